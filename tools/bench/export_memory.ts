/**
 * How much memory a large table takes while it is made, exported and loaded. One process makes the table and exports it;
 * another loads it and exports it again. `above` is the most that each took beyond the bytes of the table, and of the
 * slots of its optimizer where `--slots` asks for some. Both read some rows, which must be equal: those at both ends, and
 * around every gigabyte.
 *   node --import tsx tools/bench/export_memory.ts [--table-bytes 3e9] [--most-above 1e9] [--slots 0, 1 or 2]
 *     [--backends cpu,wasm,tensorflow,tpu-emulator] [--layer distributedEmbedding or embedding]
 *     [--format SavedModel or model.json]
 * Ends with 1 where anything took more than `--most-above`, or rows differ. Needs room for two tables in the folder of
 * temporary files.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { WITH_SOURCES } from '../../test/helpers/programs.js';
import { printLine } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    'table-bytes': { type: 'string', default: '3e9' },
    'most-above': { type: 'string', default: '1e9' },
    backends: { type: 'string', default: 'cpu,wasm,tensorflow,tpu-emulator' },
    layer: { type: 'string', default: 'distributedEmbedding' },
    slots: { type: 'string', default: '0' },
    format: { type: 'string', default: 'SavedModel' },
    // Of a process of its own: what it does, where.
    part: { type: 'string' },
    backend: { type: 'string', default: 'cpu' },
    // tfjs-node's loader takes `--directory` for its own.
    into: { type: 'string', default: '' },
  },
});
const bytes = Number(given['table-bytes']);
const COLUMNS = 64;
const ROW_BYTES = COLUMNS * Float32Array.BYTES_PER_ELEMENT;
const ROWS = Math.floor(bytes / ROW_BYTES);
const DEVICES = 4;
const SLOTS = Number(given.slots);
/** By the number of slots of a row. */
const OPTIMIZERS = [
  null,
  () => emb.train.adagrad({ learningRate: 0.1 }),
  () => emb.train.adam({ learningRate: 0.1 }),
] as const;
const ALL_BYTES = ROWS * ROW_BYTES * (1 + SLOTS);
const DATA = join('variables', 'variables.data-00000-of-00001');

/** What a process of its own tells of one thing that it did. */
interface Told {
  readonly did: 'made' | 'loaded' | 'exported';
  /** Of the process, up to then. */
  readonly peakBytes: number;
  readonly seconds: number;
  readonly devices: number;
  readonly rows: readonly number[];
}

/** The first and last rows, and those around each gigabyte. */
function someIds(): number[] {
  const middle = Array.from({ length: Math.ceil(bytes / 2 ** 30) }, (_, i) => Math.floor((i * 2 ** 30) / ROW_BYTES));
  const near = [...middle.flatMap((row) => [row - 1, row, row + 1]), ROWS - 2, ROWS - 1];
  return near.filter((row) => row >= 0 && row < ROWS);
}

async function makeModel(): Promise<tf.LayersModel> {
  const inputs = tf.input({ shape: [1], dtype: 'int32' });
  const table = { inputDim: ROWS, outputDim: COLUMNS, combiner: 'sum' as const, seed: 1 };
  const outputs =
    given.layer === 'embedding'
      ? emb.layers.embedding(table).apply(inputs)
      : (
          emb.layers
            .distributedEmbedding({ embeddings: [{ name: 'large', ...table }], rowSliceThreshold: 1 })
            .apply([inputs] as never) as unknown as tf.SymbolicTensor[]
        )[0]!;
  const model = tf.model({ inputs, outputs });
  const optimizer = OPTIMIZERS[SLOTS]?.();
  if (optimizer === undefined) return model;
  model.compile({ optimizer, loss: 'meanSquaredError' });
  // The first step makes the slots.
  const losses = await model.trainOnBatch(tf.tensor2d([0, ROWS - 1], [2, 1], 'int32'), tf.zeros([2, COLUMNS]));
  if (typeof losses !== 'number') throw new Error('expected one loss');
  return model;
}

async function did(what: Told['did'], run: () => Promise<tf.LayersModel>): Promise<tf.LayersModel> {
  const start = performance.now();
  const model = await run();
  const seconds = (performance.now() - start) / 1000;
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const rows = tf.tidy(() => {
    const ids = tf.tensor2d(someIds(), [someIds().length, 1], 'int32');
    return Array.from((model.predict(ids) as tf.Tensor).dataSync());
  });
  const layer = model.layers.find((each) => each instanceof emb.DistributedEmbedding);
  const devices = given.backend === 'tpu-emulator' ? (layer?.plan!.toJSON().ranks.length ?? 1) : 1;
  console.log(JSON.stringify({ did: what, peakBytes, seconds, devices, rows } satisfies Told));
  return model;
}

const isSavedModel = given.format === 'SavedModel';
const STATE = { includeOptimizer: SLOTS > 0 };

async function save(model: tf.LayersModel, path: string): Promise<void> {
  if (isSavedModel) await emb.savedModel.export(model, path, STATE);
  else await model.save(`file://${path}`, STATE);
}

async function load(path: string): Promise<tf.LayersModel> {
  if (isSavedModel) return (await emb.savedModel.load(path)) as tf.LayersModel;
  return emb.loadLayersModel(`file://${path}/model.json`);
}

async function runPart(part: string): Promise<void> {
  if (given.backend === 'tensorflow') await import('@tensorflow/tfjs-node');
  if (given.backend === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
  if (given.backend === 'tpu-emulator') emb.configureTpuEmulator({ chips: DEVICES, coresPerChip: 1, host: 'cpu' });
  await tf.setBackend(given.backend);
  await emb.ready();
  const { into } = given;
  const model = part === 'make' ? await did('made', makeModel) : await did('loaded', () => load(into));
  await did('exported', async () => {
    await save(model, part === 'make' ? into : `${into}-again`);
    return model;
  });
  process.exit();
}

function inProcess(part: string, backend: string, into: string): Told[] {
  const program = fileURLToPath(import.meta.url);
  const own = ['--part', part, '--backend', backend, '--into', into, '--table-bytes', String(bytes)];
  own.push('--slots', given.slots, '--layer', given.layer, '--format', given.format);
  const { status, stdout } = spawnSync(process.execPath, [...WITH_SOURCES, program, ...own], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${part} on ${backend} ended with ${status}`);
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"did"'));
  return lines.map((line) => JSON.parse(line) as Told);
}

function measure(backend: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'export-memory-'));
  const into = join(folder, 'model');
  try {
    const all = ['make', 'load'].flatMap((part) => {
      return inProcess(part, backend, into).map((told) => {
        const { did, peakBytes, seconds, devices } = told;
        const above = peakBytes - ALL_BYTES;
        printLine({ bench: 'export memory', backend, devices, process: part, did, peakBytes, above, seconds });
        if (above > Number(given['most-above'])) process.exitCode = 1;
        return told;
      });
    });
    const [first, ...others] = all.map(({ rows }) => rows.join());
    const isEqual = first !== '' && others.every((rows) => rows === first);
    const fileBytes = isSavedModel ? { fileBytes: statSync(join(into, DATA)).size } : {};
    printLine({ bench: 'export memory', backend, ...fileBytes, rowsCompared: someIds().length, isEqual });
    if (!isEqual) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (given.part !== undefined) await runPart(given.part);
for (const backend of given.backends.split(',')) measure(backend);
