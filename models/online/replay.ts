/** Trains on the recorded batches from the beginning, and compares the model with the newest checkpoint, to the bit. */
import { startBackend } from '../backend.js';
import { InputError } from '../input_error.mjs';
import { loadNewest } from './checkpoints.js';
import type { Options } from './options.mjs';
import { openStore } from './stores/index.js';
import { compiled } from './towers.js';
import { Trainer, fingerprintOf } from './trainer.js';

export async function replay(options: Options, folder: string, say: (line: string) => void): Promise<void> {
  await startBackend(options.backend, null);
  const store = await openStore({ folder, database: options.database }, true);
  try {
    const kept = await loadNewest(folder, say);
    if (kept === null) throw new InputError(`there is no checkpoint in ${folder}`);
    const { batch, event } = kept.position;
    const wanted = await fingerprintOf(compiled(kept.towers, options));
    const trainer = Trainer.begin(store, options);
    let events = 0;
    await trainer.catchUp((_, learned) => (events += learned), batch);
    const found = await fingerprintOf(trainer.towers);
    const isEqual = found === wanted && trainer.position.batch === batch && trainer.position.event === event;
    say(`${batch} batches of ${events} events replayed: the model is ${isEqual ? 'equal to the bit' : 'ANOTHER ONE'}`);
    if (!isEqual) process.exitCode = 1;
  } finally {
    await store.close();
  }
}
