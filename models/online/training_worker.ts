/** The thread that trains: learns events as they come, and writes snapshots and checkpoints between steps. */
import { parentPort, workerData } from 'node:worker_threads';
import { startBackend } from '../backend.js';
import { SnapshotWriter } from './snapshots.js';
import { openStore } from './stores/index.js';
import { Trainer } from './trainer.js';
import type { FromThread, ToThread, TrainingSettings } from './training_thread.js';

const { place, options, backend, wait, publish, checkpoint } = workerData as TrainingSettings;
const tell = (message: FromThread): void => parentPort!.postMessage(message);

/** What wakes the loop. */
let wake = (): void => {};
let isFinishing = false;
parentPort!.on('message', (message: ToThread) => {
  if (message === 'finish') isFinishing = true;
  wake();
});

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/** Runs what is to be done every so many seconds. */
class Timer {
  #last = performance.now();

  constructor(private readonly seconds: number) {}

  get left(): number {
    return Math.max(0, this.#last + 1000 * this.seconds - performance.now());
  }

  async run(work: () => Promise<void>): Promise<number> {
    const from = performance.now();
    await work();
    this.#last = performance.now();
    return (this.#last - from) / 1000;
  }
}

const { backend: found } = await startBackend(backend, null);
const store = await openStore(place, false);
const trainer = await Trainer.open(store, place.folder, options, (line) => tell({ kind: 'said', line }));
const snapshots = new SnapshotWriter(place.folder, trainer.towers, trainer.position);

const learned: Parameters<Trainer['step']>[1] = (result, events) =>
  tell({ kind: 'learned', result, events, position: trainer.position });
const [publishing, keeping, waiting] = [new Timer(publish), new Timer(checkpoint), new Timer(wait)];

async function publishNow(): Promise<void> {
  if (trainer.position.batch === snapshots.position.batch) return;
  const seconds = await publishing.run(() => snapshots.write(trainer.position));
  tell({ kind: 'published', position: trainer.position, seconds });
}

async function keepNow(): Promise<void> {
  if (trainer.position.batch === 0) return;
  await publishNow();
  const seconds = await keeping.run(() => trainer.checkpoint());
  snapshots.rebase(trainer.position);
  tell({ kind: 'checkpoint', position: trainer.position, seconds });
}

const again = await trainer.catchUp(() => {});
await publishNow();
tell({ kind: 'ready', backend: found, position: trainer.position, again });

for (;;) {
  const events = await trainer.step(isFinishing || waiting.left === 0, learned);
  if (events > 0) await waiting.run(async () => {});
  if (publishing.left === 0) await publishNow();
  if (keeping.left === 0 && trainer.position.batch > 0) await keepNow();
  if (events > 0) {
    // Messages are read between steps.
    await new Promise((resolve) => setImmediate(resolve));
    continue;
  }
  if (isFinishing) break;
  await sleep(Math.max(20, Math.min(waiting.left || 1000, publishing.left || 1000, 1000)));
}
await keepNow();
tell({ kind: 'finished', position: trainer.position });
trainer.dispose();
await store.close();
parentPort!.close();
