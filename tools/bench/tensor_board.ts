/**
 * What the callback for TensorBoard adds to `fit`, one JSON line: epochs with it and without, in turns.
 *   node --import tsx tools/bench/tensor_board.ts [--rows 1000000] [--dim 32] [--batch 256] [--steps 500] [--rounds 7]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Load, median, printLine } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    dim: { type: 'string', default: '32' },
    batch: { type: 'string', default: '256' },
    steps: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '7' },
  },
});
const [rows, dim, batch, steps, rounds] = [given.rows, given.dim, given.batch, given.steps, given.rounds].map(
  Number,
) as [number, number, number, number, number];

const model = tf.sequential({
  layers: [
    emb.layers.raggedEmbedding({ inputDim: rows, outputDim: dim, combiner: 'mean', inputShape: [10] }),
    tf.layers.dense({ units: 1, activation: 'sigmoid' }),
  ],
});
model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.05 }), loss: 'binaryCrossentropy' });
const ids = tf.randomUniform([batch * steps, 10], 0, rows, 'int32');
const labels = tf.randomUniform([batch * steps, 1], 0, 2, 'int32').cast('float32');

/** Milliseconds of each of the epochs but the first, from begin to end: logs are written in between. */
async function epochs(callbacks: tf.Callback[]): Promise<number[]> {
  const begun: number[] = [];
  const watch = new tf.CustomCallback({ onEpochBegin: async () => void begun.push(performance.now()) });
  await model.fit(ids, labels, { batchSize: batch, epochs: 3, verbose: 0, callbacks: [watch, ...callbacks] });
  return begun.slice(1).map((at, i) => at - begun[i]!);
}

const folder = mkdtempSync(join(tmpdir(), 'logs-'));
const load = new Load();
const taken: [number[], number[]] = [[], []];
await epochs([]);
for (let round = 0; round < rounds; round++) {
  for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
    const logdir = join(folder, `${round}`);
    taken[which].push(...(await epochs(which === 0 ? [] : [emb.callbacks.tensorBoard({ logdir })])));
  }
}
rmSync(folder, { recursive: true });
const [without, withLogs] = taken.map(median) as [number, number];
printLine({
  bench: 'tensorBoard',
  case: `${steps} steps an epoch, rows ${rows} d${dim} b${batch}`,
  msOfEpoch: without,
  msWithLogs: withLogs,
  ratio: withLogs / without,
  ratioOfLeast: Math.min(...taken[1]) / Math.min(...taken[0]),
  otherCpu: load.ofOthers(),
});
