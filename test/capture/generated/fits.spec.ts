/**
 * `fit` and `fitDataset` of models that are put together at random, captured beside op by op: batches of several sizes,
 * weights of classes, validation, callbacks with a state of their own, training that is stopped, and that is saved and
 * goes on in a loaded model.
 */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { broughtBack, resumed } from './between.js';
import { ROWS, optimizerOf, pick } from './models.js';
import { STEPS, describeGenerated } from './trainings.js';
import { drawIds, numbersOf } from '../twins.js';

const SAMPLES = 40;

interface Data {
  readonly x: tf.Tensor[];
  readonly y: tf.Tensor2D;
}

function drawData(random: Random, model: tf.LayersModel): Data {
  const ids = model.inputs.slice(0, -1).map(({ shape }) => drawIds(random, SAMPLES, shape[1]!, ROWS));
  const numbers = tf.tensor2d(random.floats(SAMPLES * 3), [SAMPLES, 3]);
  const y = tf.tidy(() => ids[0]!.sum(1, true).mod(2).toFloat() as tf.Tensor2D);
  return { x: [...ids, numbers], y };
}

/** What a callback does to a model after a batch; each decides by what it counts itself. */
function callbackOf(random: Random, model: tf.LayersModel): { onBatchEnd: (batch: number, logs?: tf.Logs) => void } {
  let batches = 0;
  const at = random.whole(2, 9);
  const what = pick(random, 'rate', 'freeze', 'weights', 'stop', 'nothing');
  const onBatchEnd = (): void => {
    if (++batches % at !== 0) return;
    if (what === 'rate') (model.optimizer as emb.SparseOptimizer).setLearningRate(0.03 / batches);
    if (what === 'weights') tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(0.9))));
    if (what === 'stop') model.stopTraining = true;
    const last = model.layers.at(-1)!;
    const others = model.layers.filter((layer) => layer !== last && layer.trainableWeights.length > 0);
    if (what === 'freeze' && others.length > 0) others[batches % others.length]!.trainable = false;
  };
  return { onBatchEnd };
}

function datasetOf({ x, y }: Data, names: readonly string[], batch: number): tf.data.Dataset<never> {
  const rows = Array.from({ length: SAMPLES }, (_, i) => i);
  const row = (tensor: tf.Tensor, i: number): tf.Tensor => tensor.slice([i, 0], [1, -1]).squeeze([0]);
  const dataset = tf.data.array(rows).map((i: number) => ({
    xs: Object.fromEntries(names.map((name, k) => [name, row(x[k]!, i)])),
    ys: row(y, i),
  }));
  return dataset.batch(batch) as unknown as tf.data.Dataset<never>;
}

/** Trains in rounds of one or two epochs, until there were STEPS steps or more. */
async function train(model: tf.LayersModel, seed: number): Promise<number[]> {
  const random = new Random(seed);
  const loss = pick(random, 'binaryCrossentropy', 'meanSquaredError', 'hinge');
  const metrics = random.chance(0.5) ? { metrics: ['accuracy'] } : {};
  model.compile({ optimizer: optimizerOf(random, true), loss, ...metrics });
  const found: number[] = [];
  let trained = model;
  let steps = 0;
  while (steps < STEPS) {
    const data = drawData(random, trained);
    const { x, y } = data;
    const [batchSize, epochs] = [pick(random, 8, 8, 16, 11), random.whole(1, 3)];
    const isDataset = random.chance(0.3);
    const callbacks = callbackOf(random, trained);
    const classWeight = random.chance(0.4) ? { classWeight: { 0: 0.5, 1: 2 } } : {};
    const validation = random.chance(0.5);
    if (isDataset) {
      const dataset = datasetOf(data, trained.inputNames, batchSize);
      const validationData = validation ? { validationData: dataset } : {};
      const args = {
        epochs,
        callbacks,
        verbose: 0,
        ...classWeight,
        ...validationData,
      } as tf.ModelFitDatasetArgs<never>;
      found.push(...numbersOf(await trained.fitDataset(dataset, args)));
    } else {
      const split = validation ? { validationSplit: 0.25 } : {};
      const args = { batchSize, epochs, callbacks, verbose: 0, ...classWeight, ...split } as tf.ModelFitArgs;
      found.push(...numbersOf(await trained.fit(x, y, args)));
    }
    steps += epochs * Math.ceil(SAMPLES / batchSize);
    tf.dispose([...x, y]);
    for (const layer of trained.layers) layer.trainable = true;
    if (random.chance(0.2)) trained = await resumed(trained, model);
  }
  broughtBack(trained, model);
  return found;
}

describeGenerated({ what: 'fits', models: 6, train: (model, seed) => train(model, 5000 + seed) });
