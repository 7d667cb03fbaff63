/**
 * How much memory a large table takes while it is exported and loaded. One process makes the table and exports it; another
 * loads it and exports it again, and must take little more than the table: `above` is the most that it took beyond the
 * bytes of the table. Both read some rows, which must be equal: those at both ends, and around every gigabyte.
 *   node --import tsx test/bench/export_memory.ts [--table-bytes 3e9] [--most-above 1e9] [--backends cpu,tpu-emulator]
 * Ends with 1 where loading or exporting took more than `--most-above`, or rows differ. Making a table may take it twice.
 * Needs room for two tables in the folder of temporary files.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { printLine } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    'table-bytes': { type: 'string', default: '3e9' },
    'most-above': { type: 'string', default: '1e9' },
    backends: { type: 'string', default: 'cpu,tpu-emulator' },
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

function makeModel(): tf.LayersModel {
  const inputs = tf.input({ shape: [1], dtype: 'int32' });
  const embeddings = [{ name: 'large', inputDim: ROWS, outputDim: COLUMNS, combiner: 'sum' as const, seed: 1 }];
  const layer = emb.layers.distributedEmbedding({ embeddings, rowSliceThreshold: 1 });
  const [outputs] = layer.apply([inputs] as never) as unknown as tf.SymbolicTensor[];
  return tf.model({ inputs, outputs: outputs! });
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
  const devices = given.backend === 'tpu-emulator' ? layer!.plan!.toJSON().ranks.length : 1;
  console.log(JSON.stringify({ did: what, peakBytes, seconds, devices, rows } satisfies Told));
  return model;
}

async function runPart(part: string): Promise<void> {
  if (given.backend === 'tensorflow') await import('@tensorflow/tfjs-node');
  if (given.backend === 'tpu-emulator') emb.configureTpuEmulator({ chips: DEVICES, coresPerChip: 1, host: 'cpu' });
  await tf.setBackend(given.backend);
  await emb.ready();
  const { into } = given;
  const model =
    part === 'make'
      ? await did('made', async () => makeModel())
      : await did('loaded', async () => (await emb.savedModel.load(into)) as tf.LayersModel);
  await did('exported', async () => {
    await emb.savedModel.export(model, part === 'make' ? into : `${into}-again`);
    return model;
  });
  process.exit();
}

function inProcess(part: string, backend: string, into: string): Told[] {
  const program = fileURLToPath(import.meta.url);
  const own = ['--part', part, '--backend', backend, '--into', into, '--table-bytes', String(bytes)];
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', program, ...own], {
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
        const above = peakBytes - ROWS * ROW_BYTES;
        printLine({ bench: 'export memory', backend, devices, process: part, did, peakBytes, above, seconds });
        if (part === 'load' && above > Number(given['most-above'])) process.exitCode = 1;
        return told;
      });
    });
    const [first, ...others] = all.map(({ rows }) => rows.join());
    const isEqual = first !== '' && others.every((rows) => rows === first);
    const { size } = statSync(join(into, DATA));
    printLine({ bench: 'export memory', backend, fileBytes: size, rowsCompared: someIds().length, isEqual });
    if (!isEqual) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (given.part !== undefined) await runPart(given.part);
for (const backend of given.backends.split(',')) measure(backend);
