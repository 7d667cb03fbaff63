/** Models that are put together at random of layers of tfjs and ours, and optimizers for them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';

export const ROWS = 40;

export function pick<T>(random: Random, ...options: readonly T[]): T {
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
  switch (random.whole(0, 9)) {
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

/** A model of one probability, of features of ids and three numbers. */
export function buildModel(seed: number): tf.LayersModel {
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

const FALLING: emb.LearningRate = {
  class_name: 'InverseTimeDecay',
  config: { initial_learning_rate: 0.05, decay_steps: 4, decay_rate: 0.5 },
} as never;

/** With a rate that stays or falls; `named`: one that can be saved. */
export function optimizerOf(random: Random, named = false): tf.Optimizer {
  const falling: emb.LearningRate = named ? FALLING : (step) => 0.05 / (1 + step);
  const learningRate = pick<emb.LearningRate>(random, 0.02, falling);
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
      return emb.train.adamW({ learningRate, weightDecay: 0.1, lazy: random.chance(0.5) });
    case 5:
      return emb.train.rmsprop({
        learningRate,
        momentum: random.pick([0, 0.5]),
        centered: random.chance(0.5),
        epsilon: 0.01,
      });
    case 6:
      return emb.train.sgd({ learningRate, momentum: 0.5, nesterov: random.chance(0.5) });
    case 7:
      return emb.train.ftrl({ learningRate, l1: 0.001 });
    default:
      return emb.train.adam({ learningRate, amsgrad: random.chance(0.3), lazy: random.chance(0.5) });
  }
}
