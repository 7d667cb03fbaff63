/** Trains the model and keeps the epoch that does best on rows held out for that. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { batchOf, type EncodedRows } from './data/encoder.js';
import type { LearningRate } from './learning_rate.js';
import { logLossOf } from './metrics.js';
import { Random } from './data/random.js';

export interface Labelled {
  readonly rows: EncodedRows;
  readonly labels: Float32Array;
}

export interface Progress {
  step(epoch: number, done: number, steps: number, loss: number): void;
  epoch(epoch: number, loss: number, heldOutLoss: number): void;
}

export interface Trained {
  readonly bestEpoch: number;
  readonly heldOutLoss: number;
  /** Training steps a second, without what lies between epochs. */
  readonly stepsPerSecond: number;
  /** Frees the state of the optimizer. */
  dispose(): void;
}

/** Steps of an epoch. */
export function stepsIn({ rows }: Labelled, batch: number): number {
  return Math.ceil(rows.count / batch);
}

export async function train(
  model: tf.LayersModel,
  fit: Labelled,
  heldOut: Labelled,
  { epochs, batch, seed, learningRate }: { epochs: number; batch: number; seed: number; learningRate: LearningRate },
  progress: Progress,
): Promise<Trained> {
  const random = new Random(seed);
  const steps = stepsIn(fit, batch);
  const optimizer = emb.train.adam({ learningRate: (step) => learningRate.at(step) });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  let best = { epoch: 0, loss: Infinity, weights: [] as Float32Array[] };
  let seconds = 0;
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const order = random.permutation(fit.rows.count);
    let sum = 0;
    const start = performance.now();
    for (let step = 0; step < steps; step++) {
      const rows = order.subarray(step * batch, (step + 1) * batch);
      const loss = await trainOn(model, fit, rows);
      sum += loss * rows.length;
      progress.step(epoch, step + 1, steps, loss);
    }
    seconds += (performance.now() - start) / 1000;
    const heldOutLoss = logLossOf(heldOut.labels, predict(model, heldOut.rows));
    progress.epoch(epoch, sum / fit.rows.count, heldOutLoss);
    if (heldOutLoss < best.loss) best = { epoch, loss: heldOutLoss, weights: await copyWeights(model) };
  }
  restoreWeights(model, best.weights);
  const dispose = (): void => optimizer.dispose();
  return { bestEpoch: best.epoch, heldOutLoss: best.loss, stepsPerSecond: (steps * epochs) / seconds, dispose };
}

async function trainOn(model: tf.LayersModel, { rows, labels }: Labelled, picked: Int32Array): Promise<number> {
  const inputs = batchOf(rows, picked);
  const targets = tf.tensor2d(
    Float32Array.from(picked, (row) => labels[row]!),
    [picked.length, 1],
  );
  const loss = (await model.trainOnBatch(inputs, targets)) as number;
  tf.dispose([inputs, targets]);
  return loss;
}

/** Rows per call; the same wherever predictions are compared bit by bit. */
const PREDICT_BATCH = 2048;

/** The probability of the positive class for each row. */
export function predict(model: tf.LayersModel, rows: EncodedRows): Float32Array {
  const probabilities = new Float32Array(rows.count);
  for (let start = 0; start < rows.count; start += PREDICT_BATCH) {
    const count = Math.min(PREDICT_BATCH, rows.count - start);
    tf.tidy(() => {
      const batch = batchOf(
        rows,
        Int32Array.from({ length: count }, (_, i) => start + i),
      );
      const output = model.predictOnBatch(batch) as tf.Tensor;
      probabilities.set(output.dataSync(), start);
    });
  }
  return probabilities;
}

function copyWeights(model: tf.LayersModel): Promise<Float32Array[]> {
  return Promise.all(model.getWeights().map(async (weight) => Float32Array.from(await weight.data())));
}

function restoreWeights(model: tf.LayersModel, values: readonly Float32Array[]): void {
  tf.tidy(() => model.setWeights(model.getWeights().map((weight, i) => tf.tensor(values[i]!, weight.shape))));
}
