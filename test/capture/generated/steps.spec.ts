/** Captured steps of models that are put together at random of layers of tfjs and ours, beside the same steps op by op. */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../../helpers/random.js';
import { happen } from './between.js';
import { ROWS, optimizerOf, pick } from './models.js';
import { STEPS, describeGenerated } from './trainings.js';
import { drawIds, numbersOf } from '../twins.js';

/** A read of a variable's values makes its tensor one that somebody else holds. */
function read(model: tf.LayersModel): void {
  for (const weight of model.getWeights()) weight.dataSync();
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
    await happen(random, model, { of: 12, more: read });
    tf.dispose([ids, numbers, y]);
  }
  return losses;
}

describeGenerated({ what: 'steps', models: 10, train: (model, seed) => train(model, 1000 + seed) });
