/**
 * Training from parquet files: how much of a step is reading, and how much memory comes on top once it runs. The model is
 * two tables of 1M x 32, mean, Dense 64 and 1, Adagrad; batches have 4096 rows with two lists of about 10 ids.
 *   node --import tsx tools/bench/data.ts [--source 'folder/*.parquet'] [--batches 1000] [--backend tensorflow]
 * Files must have the list columns a and b and the number label; without --source some 180 MB are made and read again and
 * again. Prints one JSON line.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-node';
import { parquetWriteBuffer } from 'hyparquet-writer';
import * as emb from 'tfjs-embeddings/node';
import { WITH_SOURCES } from '../../test/helpers/programs.js';
import { Random } from '../../test/helpers/random.js';
import { printLine } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    source: { type: 'string' },
    batches: { type: 'string', default: '1000' },
    backend: { type: 'string', default: 'tensorflow' },
    // Of a process of its own: where it writes.
    into: { type: 'string' },
  },
});
const [ROWS, WIDTH, BATCH, FILES, FILE_ROWS, LONGEST] = [1_000_000, 32, 4096, 20, 100_000, 1000];
/** Batches before memory and time are counted. */
const WARM = 10;

/** Lists of a long tail of lengths, 10 ids in the mean. */
function lists(random: Random): number[][] {
  return Array.from({ length: FILE_ROWS }, () => {
    const length = Math.min(LONGEST, Math.ceil(3.2 / (1 - random.next()) ** 0.68));
    return Array.from({ length }, () => random.whole(0, ROWS));
  });
}

function writeFiles(folder: string): void {
  for (let i = 0; i < FILES; i++) {
    const random = new Random(i);
    const label = Float32Array.from({ length: FILE_ROWS }, () => random.whole(0, 2));
    const schema = ['a', 'b'].flatMap((name) => [
      { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'OPTIONAL', type: 'INT32' },
    ]);
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'a', data: lists(random) },
        { name: 'b', data: lists(random) },
        { name: 'label', data: label },
      ],
      schema: [
        { name: 'root', num_children: 3 },
        ...schema,
        { name: 'label', type: 'FLOAT', repetition_type: 'REQUIRED' },
      ] as never,
    });
    writeFileSync(join(folder, `part_${String(i).padStart(2, '0')}.parquet`), new Uint8Array(bytes));
  }
}

/** The most memory that this process had, in MB. */
const peak = (): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024;

async function measure(source: string): Promise<void> {
  await tf.setBackend(given.backend);
  const batches = Number(given.batches);
  const rows = emb.data.fromParquet(source, { columns: { a: 'ids', b: 'ids' }, label: 'label' });
  const { a, b } = rows.inputs() as Record<'a' | 'b', tf.SymbolicTensor>;
  const pooled = [a, b].map((input) =>
    emb.layers.raggedEmbedding({ inputDim: ROWS, outputDim: WIDTH, combiner: 'mean' }).apply(input),
  );
  const joined = tf.layers.concatenate().apply(pooled as tf.SymbolicTensor[]);
  const hidden = tf.layers.dense({ units: 64, activation: 'relu' }).apply(joined);
  const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(hidden) as tf.SymbolicTensor;
  const model = tf.model({ inputs: [a, b], outputs });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.05 }), loss: 'binaryCrossentropy' });
  const read = rows.repeat().batch(BATCH).take(batches);
  let [start, reading, before, count] = [0, 0, 0, 0];
  const timed = {
    size: batches,
    async iterator() {
      const inner = await read.iterator();
      return {
        async next() {
          const asked = performance.now();
          const element = await inner.next();
          reading += performance.now() - asked;
          return element;
        },
      };
    },
  };
  const onBatchEnd = async (): Promise<void> => {
    count += 1;
    if (count !== WARM) return;
    [reading, before, start] = [0, peak(), performance.now()];
  };
  await model.fitDataset(timed, { epochs: 1, verbose: 0, callbacks: { onBatchEnd } });
  const total = performance.now() - start;
  printLine({
    bench: 'data',
    backend: given.backend,
    batches: count,
    msPerBatch: total / (count - WARM),
    readingMs: reading / (count - WARM),
    readingShare: reading / total,
    memoryGrowthMB: peak() - before,
  });
}

if (given.into !== undefined) writeFiles(given.into);
else if (given.source !== undefined) await measure(given.source);
else {
  const folder = mkdtempSync(join(tmpdir(), 'bench-data-'));
  try {
    // A process of its own: what it takes to write is not what it takes to read.
    const args = [...WITH_SOURCES, fileURLToPath(import.meta.url), '--into', folder];
    const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) throw new Error('no files were written');
    await measure(join(folder, '*.parquet'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
