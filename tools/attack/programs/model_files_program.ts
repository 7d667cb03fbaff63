/**
 * Loads spoilt models, in a process of its own.
 *   node --import tsx tools/attack/model_files_program.ts <seed>
 * First every kind of hostile/models.ts, then models of which some bytes were changed. Prints a JSON line with what fell.
 */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../../test/helpers/random.js';
import { HOSTILE_MODELS } from '../hostile/models.js';

const CHANGED = 200;
const random = new Random(Number(process.argv[2] ?? 1));
const parent = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-hostile-'));
const fallen: string[] = [];

async function makeModel(folder: string): Promise<void> {
  const table = emb.layers.embedding({ inputDim: 9, outputDim: 3, combiner: 'sum', inputShape: [2] });
  const model = tf.sequential({ layers: [table, tf.layers.dense({ units: 1 })] });
  await model.save(`file://${folder}`);
  model.dispose();
}

/** The error of loading the model in a folder; null where it loads. */
async function errorOf(folder: string): Promise<Error | null> {
  try {
    (await tf.loadLayersModel(`file://${folder}/model.json`)).dispose();
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(`${String(error)} was thrown`, { cause: error });
    return error;
  }
}

async function inCopy(kind: string, check: (folder: string) => Promise<string | null>): Promise<void> {
  const folder = join(parent, 'spoilt');
  cpSync(join(parent, 'whole'), folder, { recursive: true });
  const what = await check(folder);
  if (what !== null) fallen.push(`${kind}: ${what}`);
  rmSync(folder, { recursive: true, force: true });
}

/** Changes, removes or adds some bytes of a file. */
function change(path: string): void {
  const bytes = [...readFileSync(path)];
  for (let times = random.whole(1, 4); times > 0; times--) {
    const at = random.whole(0, bytes.length);
    const some = Array.from({ length: random.whole(0, 4) }, () => random.whole(0, 256));
    bytes.splice(at, random.pick([0, 1, some.length]), ...some);
  }
  writeFileSync(path, Buffer.from(bytes));
}

await tf.setBackend('cpu');
await makeModel(join(parent, 'whole'));
for (const { kind, says, spoil } of HOSTILE_MODELS) {
  await inCopy(kind, async (folder) => {
    spoil(folder, random);
    const error = await errorOf(folder);
    if (error === null) return 'loads';
    if (error instanceof RangeError) return `a bare ${error.name}: ${error.message}`;
    return says === null || (says.test(error.message) && error.message.includes(folder)) ? null : error.message;
  });
}
for (let n = 0; n < CHANGED; n++) {
  await inCopy(`change ${n}`, async (folder) => {
    const isJson = random.chance(0.8);
    const name = isJson ? 'model.json' : readdirSync(folder).find((each) => each !== 'model.json')!;
    const whole = readFileSync(join(folder, name));
    change(join(folder, name));
    const error = await errorOf(folder);
    // Of weights, only their number tells whether they are whole.
    const isLonger = !isJson && readFileSync(join(folder, name)).length !== whole.length;
    if (isLonger && error === null) return 'loads weights that are not as long as they should be';
    return error instanceof RangeError ? `a bare ${error.name}: ${error.message}` : null;
  });
}
rmSync(parent, { recursive: true });
console.log(JSON.stringify({ tried: HOSTILE_MODELS.length + CHANGED, fallen }));
