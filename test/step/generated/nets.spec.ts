/**
 * Training, evaluation and prediction in turns of models of several inputs and outputs: batches of several sizes, fits
 * with weights of classes, validation and callbacks that set rates, freeze layers and stop, weights and states of
 * optimizers that are set, other factors of regularizers, training that goes on in a saved model.
 */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { ROWS, optimizerOf, pick } from './models.js';
import { LOSSES, buildNet, disposeNested } from './nets.js';
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

function frozen(random: Random, model: tf.LayersModel): void {
  const layers = model.layers.slice(0, -3).filter(({ trainableWeights }) => trainableWeights.length > 0);
  if (layers.length > 0) pick(random, ...layers).trainable = false;
}

async function fit(random: Random, model: tf.LayersModel): Promise<number[]> {
  const { x, y } = draw(random, model, 30);
  const what = pick(random, 'rate', 'freeze', 'stop', 'predict');
  let batches = 0;
  const seen: number[] = [];
  const onBatchEnd = (): void => {
    if (++batches % 4 !== 0) return;
    if (what === 'rate') (model.optimizer as emb.SparseOptimizer).setLearningRate(0.02 / batches);
    if (what === 'freeze') frozen(random, model);
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

/** What may happen between two steps. */
async function happen(random: Random, model: tf.LayersModel): Promise<void> {
  const optimizer = model.optimizer as emb.SparseOptimizer;
  switch (random.whole(0, 14)) {
    case 0:
      tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(0.95))));
      return;
    case 1:
      optimizer.setLearningRate(0.01);
      return;
    case 2:
      frozen(random, model);
      return;
    case 3:
      for (const layer of model.layers) layer.trainable = true;
      return;
    case 4: {
      const state = (await optimizer.getWeights()).map(({ name, tensor }) => ({ name, tensor: tensor.clone() }));
      await optimizer.setWeights(state);
      tf.dispose(state.map(({ tensor }) => tensor));
      return;
    }
    case 5: {
      const head = model.layers.at(-1) as unknown as { kernelRegularizer?: { l2: number } | null };
      if (head.kernelRegularizer) head.kernelRegularizer.l2 *= 0.5;
      return;
    }
    default:
  }
}

async function train(model: tf.LayersModel, seed: number): Promise<number[]> {
  const random = new Random(9000 + seed);
  const losses = LOSSES.slice(0, model.outputs.length);
  const byName = Object.fromEntries(model.outputNames.map((name, i) => [name, losses[i]!]));
  const loss = random.chance(0.5) ? [...losses] : byName;
  const metrics = random.chance(0.4) ? { metrics: ['mse'] } : {};
  model.compile({ optimizer: optimizerOf(random, true), loss, ...metrics });
  const found: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const { x, y } = draw(random, model, random.chance(0.2) ? pick(random, 5, 9) : 16);
    found.push(...numbersOf(await model.trainOnBatch(x, y)));
    if (random.chance(0.2)) found.push(...sums(model.evaluate(x, y, { batchSize: 6 }) as tf.Tensor[]));
    if (random.chance(0.3)) found.push(...sums(model.predict(x)));
    tf.dispose([x, y]);
    if (random.chance(0.06)) found.push(...(await fit(random, model)));
    await happen(random, model);
  }
  return found;
}

describeGenerated({ what: 'nets', models: 5, build: buildNet, train, cleanUp: disposeNested });
