/** DLRM: reads click logs, hashes values to rows of tables, trains by `fit`, and scores the test lines. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { startBackend } from '../backend.js';
import { scoresOf } from '../metrics.js';
import { ProgressBar } from '../progress_bar.js';
import { Random } from '../random.js';
import { NUMBERS, VALUES, inOrder, readData, type Clicks } from './data.js';
import { buildModel } from './model.js';
import type { Options } from './options.mjs';

const PROGRESS = 'epoch {epoch}/{epochs} [{bar}] {value}/{total} steps, loss {loss}';
/** Lines that are predicted at once. */
const PREDICT_BATCH = 4096;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Where the n-th id of a value lies in its table (the last steps of MurmurHash3). */
export function rowOf(value: number, n: number, rows: number): number {
  let x = Math.imul(value ^ Math.imul(n, 0x9e3779b1), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) % rows;
}

/** What the model takes of these lines: numbers, then the ids of each column; missing values have none. */
function inputsOf({ count, numbers, values }: Clicks, { rows, hotness }: Options): tf.Tensor2D[] {
  const columns = Array.from({ length: VALUES }, (_, column) => {
    const ids = new Int32Array(count * hotness);
    for (let line = 0; line < count; line++) {
      const value = values[line * VALUES + column]!;
      // Row 0 stands for what is missing.
      for (let n = 0; n < hotness; n++) ids[line * hotness + n] = value < 0 ? 0 : 1 + rowOf(value, n, rows - 1);
    }
    return tf.tensor2d(ids, [count, hotness], 'int32');
  });
  return [tf.tensor2d(numbers, [count, NUMBERS]), ...columns];
}

export async function run(options: Options): Promise<void> {
  const { train, test, bestAuc } = await readData(options);
  say(`${train.count} lines to train on, ${test.count} to score`);
  const info = await startBackend(options.backend, null);
  const model = buildModel(options);
  model.compile({ optimizer: emb.train.adam({ learningRate: options.rate }), loss: 'binaryCrossentropy' });
  const { epochs, batch, rows, hotness, dim } = options;
  const steps = epochs * Math.ceil(train.count / batch);
  const bar = new ProgressBar(PROGRESS, steps);
  const random = new Random(options.seed);
  let [done, seconds] = [0, 0];
  try {
    for (let epoch = 1; epoch <= epochs; epoch++) {
      // Drawn here, as tfjs shuffles in an order that no seed repeats.
      const lines = inOrder(train, random.permutation(train.count));
      const [xs, ys] = [inputsOf(lines, options), tf.tensor2d(lines.labels, [lines.count, 1])];
      const callbacks: tf.CustomCallbackArgs = {
        onBatchEnd: async (_, logs) => bar.update(++done, { epoch, epochs, loss: logs!['loss']!.toFixed(4) }),
      };
      const start = performance.now();
      const args = { batchSize: batch, epochs: 1, shuffle: false, verbose: 0 as const, callbacks };
      await model.fit(xs, ys, args);
      seconds += (performance.now() - start) / 1000;
      tf.dispose([xs, ys]);
    }
  } finally {
    bar.stop();
  }
  const { captured, reason } = emb.stepInfo(model);
  if (reason !== null) say(`steps ran op by op: ${reason}`);

  const probabilities = tf.tidy(() => {
    const found = model.predict(inputsOf(test, options), { batchSize: PREDICT_BATCH }) as tf.Tensor;
    return found.dataSync<'float32'>().slice();
  });
  const { auc, logLoss } = scoresOf(test.labels, probabilities);
  const best = bestAuc === null ? '' : ` (best possible ${bestAuc.toFixed(4)})`;
  say(`AUC ${auc.toFixed(4)}${best}, log loss ${logLoss.toFixed(4)}, ${(steps / seconds).toFixed(1)} steps/s`);
  const result = {
    backend: info.backend,
    auc,
    ...(bestAuc !== null && { bestAuc }),
    logLoss,
    captured,
    stepsPerSecond: steps / seconds,
    lines: train.count,
    ...{ rows, hotness, dim, epochs },
    peakMemory: 1024 * process.resourceUsage().maxRSS,
    seed: options.seed,
  };
  if (options.json) say(JSON.stringify(result));
}
