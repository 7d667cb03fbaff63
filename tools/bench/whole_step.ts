/**
 * Whole steps of a wide-and-deep model on `tensorflow`, captured and op by op, taking turns: one JSON line per way of
 * training or predicting. The model has 14 features, and dropout and penalty of the example `models/wide_and_deep`.
 *   node --import tsx tools/bench/whole_step.ts [--batch 512] [--rounds 7] [--steps 57]
 */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-node';
import { parseArgs } from 'node:util';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../test/helpers/random.js';
import { CENSUS_ROWS, censusModel } from './census_model.js';
import { median, printLine } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    batch: { type: 'string', default: '512' },
    rounds: { type: 'string', default: '7' },
    steps: { type: 'string', default: '57' },
  },
});
const [batch, rounds, steps] = [given.batch, given.rounds, given.steps].map(Number) as [number, number, number];
await tf.setBackend('tensorflow');
const random = new Random(1);
const x = CENSUS_ROWS.map((rows) => {
  const ids = Int32Array.from({ length: batch * steps }, () => random.whole(0, rows));
  return tf.tensor2d(ids, [batch * steps, 1], 'int32');
});
const y = tf.tidy(() => x[0]!.toFloat().div(64).add(x[2]!.toFloat().div(102)).greater(1).toFloat());

function make(isCaptured: boolean): tf.LayersModel {
  const model = censusModel(batch, steps);
  emb.setCapture(isCaptured, model);
  model.compile({
    optimizer: emb.train.adam({ learningRate: (step) => 0.008 / (1 + step / 1000) }),
    loss: 'binaryCrossentropy',
  });
  return model;
}

type Train = (model: tf.LayersModel) => Promise<unknown>;
const batches = Array.from({ length: 8 }, (_, k) => {
  const part = (all: tf.Tensor): tf.Tensor => all.slice([k * batch, 0], [batch, 1]);
  return { x: x.map(part), y: part(y) };
});
const ways: Record<string, Train> = {
  trainOnBatch: async (model) => {
    for (let step = 0; step < steps; step++) {
      const { x: ids, y: labels } = batches[step % batches.length]!;
      await model.trainOnBatch(ids, labels);
    }
  },
  predictOnBatch: (model) => {
    for (let step = 0; step < steps; step++) tf.dispose(model.predictOnBatch(batches[step % batches.length]!.x));
    return Promise.resolve();
  },
  predict: (model) => Promise.resolve(tf.dispose(model.predict(x, { batchSize: batch }))),
  fit: (model) => model.fit(x, y, { batchSize: batch, epochs: 1, verbose: 0, yieldEvery: 'never' }),
};
const models = { captured: make(true), 'op by op': make(false) };
for (const [way, train] of Object.entries(ways)) {
  const seconds: Record<string, number[]> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [peer, model] of Object.entries(models)) {
      const start = performance.now();
      await train(model);
      if (round >= 0) (seconds[peer] ??= []).push((performance.now() - start) / 1000);
    }
  }
  const rates = Object.fromEntries(Object.entries(seconds).map(([peer, all]) => [peer, steps / median(all)]));
  const ratio = rates['captured']! / rates['op by op']!;
  printLine({ case: `wide and deep, batch ${batch}, ${way}`, stepsPerSecond: rates, ratio });
}
console.error(emb.stepInfo(models.captured));
