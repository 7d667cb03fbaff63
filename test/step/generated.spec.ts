/**
 * Captured steps of models that are put together at random of layers of tfjs and ours, beside the same steps op by op.
 * TFJS_EMBEDDINGS_STEP_MODELS sets the number of models (10), TFJS_EMBEDDINGS_STEP_STEPS that of steps (24).
 */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { ROWS, buildModel, optimizerOf, pick } from './generated_models.js';
import { drawIds, expectEqual, numbersOf, twins } from './twins.js';

const MODELS = Number(process.env['TFJS_EMBEDDINGS_STEP_MODELS'] ?? 10);
const STEPS = Number(process.env['TFJS_EMBEDDINGS_STEP_STEPS'] ?? 24);
const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 1);
const TOLERANCE = STEPS > 60 ? 1e-4 : 1e-6;
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

describeForBackends(
  'Captured steps of generated models',
  () => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    let captured = 0;
    for (let seed = SEED; seed < SEED + MODELS; seed++) {
      it(`equal the steps op by op: model ${seed}`, async () => {
        const found = await twins(
          () => buildModel(seed),
          (model) => train(model, 1000 + seed),
        );
        // Where much happens between steps, they end op by op, or wait for the next recording.
        expect(found.captured.info.reason ?? '').toMatch(/^$|changes from step to step/);
        if (found.captured.info.captured) captured += 1;
        expectEqual(found, TOLERANCE);
      });
    }

    afterAll(() =>
      expect(captured)
        .withContext('models that were captured')
        .toBeGreaterThan(0.7 * MODELS),
    );
  },
  ['tensorflow'],
);
