/**
 * Captured steps of models that are put together at random of layers of tfjs and ours, beside the same steps op by op.
 * TFJS_EMBEDDINGS_STEP_MODELS sets the number of models (10), TFJS_EMBEDDINGS_STEP_STEPS that of steps (24).
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { drawIds, expectEqual, numbersOf, twins } from './twins.js';

const MODELS = Number(process.env['TFJS_EMBEDDINGS_STEP_MODELS'] ?? 10);
const STEPS = Number(process.env['TFJS_EMBEDDINGS_STEP_STEPS'] ?? 24);
const TOLERANCE = STEPS > 60 ? 1e-4 : 1e-6;
const ROWS = 40;

function pick<T>(random: Random, ...options: readonly T[]): T {
  return options[random.whole(0, options.length)]!;
}

const apply = (layer: tf.layers.Layer, x: tf.SymbolicTensor | tf.SymbolicTensor[]): tf.SymbolicTensor =>
  layer.apply(x) as tf.SymbolicTensor;

/** Rows of one feature as [batch, width]. */
function rowsOf(random: Random, ids: tf.SymbolicTensor, dim: number): tf.SymbolicTensor {
  const combiner = pick<emb.Combiner | null>(random, 'sum', 'mean', 'sqrtn', null);
  const regularized = random.chance(0.4);
  const layer = emb.layers.embedding({
    inputDim: ROWS,
    outputDim: dim,
    combiner,
    ...(regularized ? { embeddingsRegularizer: tf.regularizers.l1l2({ l1: 0.001, l2: 0.01 }) } : {}),
    ...(random.chance(0.2) ? { embeddingsConstraint: 'nonNeg' as const } : {}),
    ...(random.chance(0.2) ? { optimizer: emb.train.adagrad({ learningRate: 0.02 }) } : {}),
    ...(random.chance(0.2) ? { maxNorm: 0.5 } : {}),
  });
  const rows = apply(layer, ids);
  if (combiner !== null) return rows;
  // tfjs cannot differentiate a sequence of one.
  if (ids.shape[1]! > 1 && random.chance(0.3))
    return apply(tf.layers.gru({ units: dim, recurrentInitializer: 'glorotNormal' }), rows);
  return random.chance(0.5) ? apply(tf.layers.flatten(), rows) : apply(tf.layers.globalAveragePooling1d({}), rows);
}

function featuresOf(random: Random, ids: readonly tf.SymbolicTensor[], dim: number): tf.SymbolicTensor[] {
  if (random.chance(0.3)) {
    const tables = ids.map(() => emb.layers.embedding({ inputDim: ROWS, outputDim: dim, combiner: 'mean' }));
    return emb.layers.distributedEmbedding({ embeddings: tables }).apply([...ids]) as tf.SymbolicTensor[];
  }
  return ids.map((each) => rowsOf(random, each, dim));
}

function block(random: Random, x: tf.SymbolicTensor): tf.SymbolicTensor {
  switch (random.whole(0, 6)) {
    case 0:
      return apply(tf.layers.batchNormalization({ momentum: 0.8 }), x);
    case 1:
      return apply(tf.layers.layerNormalization(), x);
    case 2:
      return apply(tf.layers.dropout({ rate: 0.3, seed: random.whole(1, 1000) }), x);
    case 3:
      return apply(emb.layers.featureCross(), [x, x]);
    default: {
      const activation = pick(random, 'relu', 'elu', 'tanh', 'softplus', 'sigmoid', 'selu', 'linear', 'swish');
      const regularized = random.chance(0.3) ? { kernelRegularizer: tf.regularizers.l2({ l2: 0.01 }) } : {};
      return apply(tf.layers.dense({ units: random.whole(3, 9), activation: activation as never, ...regularized }), x);
    }
  }
}

function buildModel(seed: number): tf.LayersModel {
  const random = new Random(seed);
  const ids = Array.from({ length: random.whole(1, 4) }, () => {
    return tf.input({ shape: [random.whole(1, 4)], dtype: 'int32' });
  });
  const numbers = tf.input({ shape: [3] });
  const features = featuresOf(random, ids, random.whole(2, 7));
  let x = apply(tf.layers.concatenate(), [...features, numbers]);
  for (let blocks = random.whole(0, 4); blocks > 0; blocks--) x = block(random, x);
  const last = apply(tf.layers.dense({ units: 1, activation: 'sigmoid' }), x);
  return tf.model({ inputs: [...ids, numbers], outputs: last });
}

function optimizerOf(random: Random): tf.Optimizer {
  const learningRate = pick<emb.LearningRate>(random, 0.02, (step) => 0.05 / (1 + step));
  switch (random.whole(0, 6)) {
    case 0:
      return emb.train.sgd({ learningRate });
    case 1:
      return emb.train.adagrad({ learningRate, clipNorm: 0.5 });
    case 2:
      return emb.train.rowWiseAdagrad({ learningRate, weightDecay: 0.01 });
    case 3:
      return emb.train.adagradMomentum({ learningRate, momentum: 0.5, useNesterov: random.chance(0.5) });
    case 4:
      return emb.train.ftrl({ learningRate, l1: 0.001 });
    default:
      return emb.train.adam({ learningRate, lazy: random.chance(0.5) });
  }
}

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
    for (let seed = 1; seed <= MODELS; seed++) {
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
