/** Captured steps of models that are put together at random of layers of tfjs and ours, beside the same steps op by op. */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { ROWS, optimizerOf, pick } from './models.js';
import { STEPS, describeGenerated } from './trainings.js';
import { drawIds, numbersOf } from '../twins.js';

/** What may happen between two steps. */
async function happen(random: Random, model: tf.LayersModel): Promise<void> {
  const optimizer = model.optimizer as emb.SparseOptimizer;
  switch (random.whole(0, 12)) {
    case 0:
      tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(0.95))));
      return;
    case 1:
      optimizer.setLearningRate(0.01);
      return;
    case 2: {
      const layer = pick(random, ...model.layers.filter(({ trainableWeights }) => trainableWeights.length > 0));
      if (layer !== undefined && layer !== model.layers.at(-1)) layer.trainable = false;
      return;
    }
    case 3:
      for (const layer of model.layers) layer.trainable = true;
      return;
    case 4: {
      const state = (await optimizer.getWeights()).map(({ name, tensor }) => ({ name, tensor: tensor.clone() }));
      await optimizer.setWeights(state);
      tf.dispose(state.map(({ tensor }) => tensor));
      return;
    }
    case 5:
      for (const weight of model.getWeights()) weight.dataSync();
      return;
    default:
  }
}

async function train(model: tf.LayersModel, seed: number): Promise<number[]> {
  const random = new Random(seed);
  const loss = pick(random, 'binaryCrossentropy', 'meanSquaredError', 'meanAbsoluteError', 'hinge');
  const metrics = random.chance(0.5) ? { metrics: ['accuracy'] } : {};
  model.compile({ optimizer: optimizerOf(random), loss, ...metrics });
  const losses: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const batch = random.chance(0.15) ? 5 : 16;
    const ids = model.inputs.slice(0, -1).map(({ shape }) => drawIds(random, batch, shape[1]!, ROWS));
    const numbers = tf.tensor2d(random.floats(batch * 3), [batch, 3]);
    const y = tf.tidy(() => ids[0]!.sum(1, true).mod(2).toFloat());
    losses.push(...numbersOf(await model.trainOnBatch([...ids, numbers], y)));
    await happen(random, model);
    tf.dispose([ids, numbers, y]);
  }
  return losses;
}

describeGenerated({ what: 'steps', models: 10, train: (model, seed) => train(model, 1000 + seed) });
