/**
 * Loads spoilt SavedModels, in a process of its own.
 *   node --import tsx tools/attack/programs/saved_models_program.ts <seed>
 * First every kind of hostile/saved_models.ts, then SavedModels of which some bytes were changed. Each loads or ends in an
 * error of this package, soon and without much memory; nothing beside it changes. Prints a JSON line with what fell.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../../test/helpers/random.js';
import { HOSTILE_SAVED_MODELS } from '../hostile/saved_models.js';

const CHANGED = 100;
const MOST_MS = 10_000;
const MOST_BYTES = 1e9;
const random = new Random(Number(process.argv[2] ?? 1));
const parent = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-hostile-'));
const whole = join(parent, 'whole');
const fallen: string[] = [];

async function makeModel(): Promise<void> {
  const table = emb.layers.embedding({ inputDim: 9, outputDim: 3, combiner: 'sum', inputShape: [2] });
  const model = tf.sequential({ layers: [table, tf.layers.dense({ units: 1 })] });
  await emb.savedModel.export(model, whole);
  model.dispose();
}

async function errorOf(folder: string): Promise<unknown> {
  try {
    (await emb.savedModel.load(folder)).dispose();
    return null;
  } catch (error) {
    return error;
  }
}

function isOurs(error: unknown): error is Error {
  return error instanceof Error && typeof (error as { argument?: unknown }).argument === 'string';
}

/** Loads what `spoil` makes of a copy; what is wrong with how that ends. */
async function attempt(kind: string, spoil: (folder: string) => void, says: RegExp | null): Promise<void> {
  const room = join(parent, 'room');
  mkdirSync(room);
  const folder = join(room, 'spoilt');
  cpSync(whole, folder, { recursive: true });
  spoil(folder);
  const beside = readdirSync(room).sort().join();
  const tensors = tf.memory().numTensors;
  const [start, memory] = [performance.now(), process.memoryUsage().rss];
  console.error(kind);
  const error = await errorOf(folder);
  const say = (what: string): void => void fallen.push(`${kind}: ${what}`);
  if (performance.now() - start > MOST_MS) say('takes too long');
  if (process.memoryUsage().rss - memory > MOST_BYTES) say('takes too much memory');
  if (readdirSync(room).sort().join() !== beside) say('changes what lies beside');
  // Of a model that it cannot make, tfjs keeps the weights that it had made.
  const isHalfMade = isOurs(error) && error.message.includes('layers cannot be made');
  if (tf.memory().numTensors !== tensors && !isHalfMade) say('leaves tensors');
  if (error !== null && !isOurs(error)) say(`a bare error: ${String(error)}`);
  if (says !== null && error === null) say('loads');
  if (says !== null && isOurs(error) && !says.test(error.message)) say(error.message);
  rmSync(room, { recursive: true, force: true });
}

/** Changes, removes or adds some bytes of a file. */
function change(path: string): void {
  const bytes = [...readFileSync(path)];
  for (let times = random.whole(1, 4); times > 0; times--) {
    const some = Array.from({ length: random.whole(0, 4) }, () => random.whole(0, 256));
    bytes.splice(random.whole(0, bytes.length), random.pick([0, 1, some.length]), ...some);
  }
  writeFileSync(path, Buffer.from(bytes));
}

await tf.setBackend('cpu');
await makeModel();
for (const { kind, says, spoil } of HOSTILE_SAVED_MODELS) await attempt(kind, (folder) => spoil(folder, random), says);
const files = readdirSync(whole, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
for (let n = 0; n < CHANGED; n++) {
  // Without its own config TensorFlow runs it.
  const isRun = random.chance(0.5);
  const spoil = (folder: string): void => {
    if (isRun) rmSync(join(folder, 'assets.extra'), { recursive: true });
    const name = random.pick(files.filter((each) => existsSync(join(folder, each)) && each !== 'assets.extra'));
    change(join(folder, name));
  };
  await attempt(`change ${n}`, spoil, null);
}
rmSync(parent, { recursive: true });
console.log(JSON.stringify({ tried: HOSTILE_SAVED_MODELS.length + CHANGED, fallen }));
