/** Trains the model, and keeps the epoch that does best on rows held out for that. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { logLossOf } from '../metrics.js';
import { ProgressBar } from '../progress_bar.js';
import { Random } from '../random.js';
import { batchOf, type EncodedRows } from './features.js';
import type { Options } from './options.mjs';

/** Learning rate at batches of 512 rows; it follows the root of the batch size. */
const RATE = 0.008;
/** Those of Adam. */
const BETA_1 = 0.9;
const BETA_2 = 0.999;
/** Rows per call; the same wherever predictions are compared bit by bit. */
const PREDICT_BATCH = 2048;
const PROGRESS = 'epoch {epoch}/{epochs} [{bar}] {value}/{total} steps, loss {loss}, held-out log loss {heldOut}';

export type Labelled = Readonly<{ rows: EncodedRows; labels: Float32Array }>;

/** Half a cosine over all steps, from the full rate down to nothing. */
export class LearningRate {
  private asked = 0;

  constructor(
    private readonly batch: number,
    private readonly steps: number,
  ) {}

  /** That of a step; the first is 0. */
  at(step: number): number {
    const full = RATE * Math.sqrt(this.batch / 512);
    return (full * (1 + Math.cos((Math.PI * Math.min(step, this.steps)) / this.steps))) / 2;
  }

  /** That of the next step, for an Adam without bias correction. To be asked once a step. */
  readonly nextCorrected = (): number => {
    const step = this.asked++;
    return (this.at(step) * Math.sqrt(1 - BETA_2 ** (step + 1))) / (1 - BETA_1 ** (step + 1));
  };
}

export async function train(
  model: tf.LayersModel,
  fit: Labelled,
  heldOut: Labelled,
  { epochs, batch, seed, learningRate }: Pick<Options, 'epochs' | 'batch' | 'seed'> & { learningRate: LearningRate },
) {
  const optimizer = emb.train.adam({ learningRate: (step) => learningRate.at(step) });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  const random = new Random(seed);
  const batches = tf.data.generator(function* () {
    const order = random.permutation(fit.rows.count);
    for (let start = 0; start < order.length; start += batch) {
      const rows = order.subarray(start, start + batch);
      const labels = Float32Array.from(rows, (row) => fit.labels[row]!);
      yield { xs: batchOf(fit.rows, rows), ys: tf.tensor2d(labels, [rows.length, 1]) };
    }
  });
  const steps = epochs * Math.ceil(fit.rows.count / batch);
  const bar = new ProgressBar(PROGRESS, steps);
  let [done, start, seconds] = [0, 0, 0];
  const shown = { epoch: 1, epochs, loss: '-', heldOut: '-' };
  let best = { epoch: 0, loss: Infinity, weights: [] as Float32Array[] };
  const callbacks: tf.CustomCallbackArgs = {
    onEpochBegin: async (epoch) => {
      shown.epoch = epoch + 1;
      start = performance.now();
    },
    onBatchEnd: async (_, logs) => bar.update(++done, Object.assign(shown, { loss: logs!['loss']!.toFixed(4) })),
    onEpochEnd: async (epoch, logs) => {
      seconds += (performance.now() - start) / 1000;
      const loss = logLossOf(heldOut.labels, predict(model, heldOut.rows));
      bar.update(done, Object.assign(shown, { loss: logs!['loss']!.toFixed(4), heldOut: loss.toFixed(4) }));
      if (loss >= best.loss) return;
      const weights = model.getWeights().map(async (weight) => Float32Array.from(await weight.data()));
      best = { epoch: epoch + 1, loss, weights: await Promise.all(weights) };
    },
  };
  await model.fitDataset(batches, { epochs, verbose: 0, callbacks }).finally(() => bar.stop());
  tf.tidy(() => model.setWeights(model.getWeights().map((weight, i) => tf.tensor(best.weights[i]!, weight.shape))));
  return { bestEpoch: best.epoch, heldOutLogLoss: best.loss, stepsPerSecond: steps / seconds, optimizer };
}

/** The probability of the positive class for each row. */
export function predict(model: tf.LayersModel, rows: EncodedRows): Float32Array {
  return tf.tidy(() => {
    const all = Int32Array.from({ length: rows.count }, (_, i) => i);
    const output = model.predict(batchOf(rows, all), { batchSize: PREDICT_BATCH }) as tf.Tensor;
    return output.dataSync<'float32'>().slice();
  });
}
