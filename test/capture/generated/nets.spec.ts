/**
 * Training, evaluation and prediction in turns of models of several inputs and outputs: batches of several sizes, fits
 * with weights of classes, validation and callbacks that set rates, freeze layers and stop, weights and states of
 * optimizers that are set, other factors of regularizers, training that goes on in a saved model.
 */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { broughtBack, freeze, happen, resumed } from './between.js';
import { ROWS, optimizerOf, pick } from './models.js';
import { LOSSES, buildNet, disposeNested, keepNested } from './nets.js';
import { STEPS, describeGenerated } from './trainings.js';
import { drawIds, numbersOf } from '../twins.js';

interface Data {
  readonly x: tf.Tensor[];
  readonly y: tf.Tensor[];
}

function draw(random: Random, model: tf.LayersModel, samples: number): Data {
  const ids = [0, 1].map(() => drawIds(random, samples, 3, ROWS));
  const numbers = tf.tensor2d(random.floats(samples * 3), [samples, 3]);
  const y = tf.tidy(() => {
    const sum = ids[0]!.sum(1, true);
    const classes = tf.oneHot(sum.mod(4).squeeze([1]).toInt(), 4).toFloat();
    return [sum.mod(2).toFloat(), numbers.sum(1, true), classes].slice(0, model.outputs.length);
  });
  return { x: [...ids, numbers], y };
}

/** One value for each tensor, which is disposed. */
function sums(tensors: tf.Tensor | tf.Tensor[]): number[] {
  const all = [tensors].flat();
  const found = all.map((each) => tf.tidy(() => each.mean().dataSync()[0]!));
  tf.dispose(all);
  return found;
}

async function fit(random: Random, model: tf.LayersModel): Promise<number[]> {
  const { x, y } = draw(random, model, 30);
  const what = pick(random, 'rate', 'freeze', 'stop', 'predict');
  let batches = 0;
  const seen: number[] = [];
  const onBatchEnd = (): void => {
    if (++batches % 4 !== 0) return;
    if (what === 'rate') (model.optimizer as emb.SparseOptimizer).setLearningRate(0.02 / batches);
    if (what === 'freeze') freeze(random, model, 3);
    if (what === 'stop') model.stopTraining = true;
    if (what === 'predict') seen.push(...sums(model.predict(x, { batchSize: 8 })));
  };
  const split = random.chance(0.5) ? { validationSplit: 0.2 } : {};
  const weights = model.outputs.length === 1 && random.chance(0.5) ? { classWeight: { 0: 0.5, 1: 2 } } : {};
  const args = { batchSize: 8, epochs: 2, callbacks: { onBatchEnd }, verbose: 0, ...split, ...weights };
  const history = await model.fit(x, y, args as tf.ModelFitArgs);
  tf.dispose([x, y]);
  return [...numbersOf(history), ...seen];
}

/** Another factor of a regularizer. */
function halve(model: tf.LayersModel): void {
  const head = model.layers.at(-1) as unknown as { kernelRegularizer?: { l2: number } | null };
  if (head.kernelRegularizer) head.kernelRegularizer.l2 *= 0.5;
}

async function train(model: tf.LayersModel, seed: number): Promise<number[]> {
  const random = new Random(9000 + seed);
  const losses = LOSSES.slice(0, model.outputs.length);
  const byName = Object.fromEntries(model.outputNames.map((name, i) => [name, losses[i]!]));
  const loss = random.chance(0.5) ? [...losses] : byName;
  const metrics = random.chance(0.4) ? { metrics: ['mse'] } : {};
  model.compile({ optimizer: optimizerOf(random, true), loss, ...metrics });
  const found: number[] = [];
  let trained = model;
  for (let step = 0; step < STEPS; step++) {
    const { x, y } = draw(random, trained, random.chance(0.2) ? pick(random, 5, 9) : 16);
    found.push(...numbersOf(await trained.trainOnBatch(x, y)));
    if (random.chance(0.2)) found.push(...sums(trained.evaluate(x, y, { batchSize: 6 }) as tf.Tensor[]));
    if (random.chance(0.3)) found.push(...sums(trained.predict(x)));
    tf.dispose([x, y]);
    if (random.chance(0.06)) found.push(...(await fit(random, trained)));
    await happen(random, trained, { of: 14, heads: 3, more: halve });
    // Not before the first model is captured.
    if (step > 6 && random.chance(0.05)) trained = keepNested(await resumed(trained, model));
  }
  broughtBack(trained, model);
  return found;
}

describeGenerated({ what: 'nets', models: 5, build: buildNet, train, cleanUp: disposeNested });
