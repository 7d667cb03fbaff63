/** Models of several inputs and outputs that are put together at random: shared tables and models, masks, sequences. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { ROWS, pick } from './models.js';

type Symbol = tf.SymbolicTensor;

const apply = (layer: tf.layers.Layer, x: Symbol | Symbol[]): Symbol => layer.apply(x) as Symbol;

/** A model within a model that is applied twice is let go of once: the rest is up to whoever built or loaded it. */
const nested: tf.LayersModel[] = [];

/** The models within a loaded one, as those of `buildNet`; returns it. */
export function keepNested(model: tf.LayersModel): tf.LayersModel {
  nested.push(...model.layers.filter((layer) => layer instanceof tf.LayersModel));
  return model;
}

export function disposeNested(): void {
  for (const model of nested.splice(0)) model.dispose();
}

/** Rows of a sequence of ids as [batch, units], some of them masked. */
function sequence(random: Random, ids: Symbol, units: number): Symbol {
  const maskZero = random.chance(0.5);
  const rows = random.chance(0.9)
    ? apply(emb.layers.embedding({ inputDim: ROWS, outputDim: units, combiner: null, maskZero }), ids)
    : apply(tf.layers.embedding({ inputDim: ROWS, outputDim: units, maskZero }), ids);
  const recurrentInitializer = 'glorotNormal';
  switch (random.whole(0, 5)) {
    case 0:
      return apply(tf.layers.gru({ units, recurrentInitializer }), rows);
    case 1:
      return apply(tf.layers.lstm({ units, recurrentInitializer }), rows);
    case 2: {
      const each = tf.layers.timeDistributed({ layer: tf.layers.dense({ units, activation: 'tanh' }) });
      return apply(tf.layers.globalMaxPooling1d(), apply(each, rows));
    }
    case 3:
      return apply(
        tf.layers.flatten(),
        apply(tf.layers.conv1d({ filters: units, kernelSize: 2, useBias: false }), rows),
      );
    default:
      return apply(tf.layers.globalAveragePooling1d(), rows);
  }
}

/** Rows of two features of one table. */
function sharedRows(random: Random, ids: readonly Symbol[], units: number): Symbol[] {
  const regularizer = random.chance(0.4) ? { embeddingsRegularizer: 'l1l2' as const } : {};
  const table = emb.embeddingTable({ inputDim: ROWS, outputDim: units, ...regularizer });
  return ids.map((each) => apply(emb.layers.embedding({ table, combiner: pick(random, 'sum', 'mean') }), each));
}

/** One model over both features. */
function towers(random: Random, features: readonly Symbol[], units: number): Symbol[] {
  const input = tf.input({ shape: [units] });
  const hidden = apply(tf.layers.dense({ units, activation: pick(random, 'relu', 'tanh', 'elu') }), input);
  const inner = tf.model({ inputs: input, outputs: hidden });
  nested.push(inner);
  return features.map((each) => apply(inner, each));
}

function crossed(random: Random, features: Symbol[]): Symbol {
  const all = apply(tf.layers.concatenate(), features);
  switch (random.whole(0, 5)) {
    case 0:
      return apply(emb.layers.dotInteraction({ selfInteraction: random.chance(0.5) }), features);
    case 1:
      return apply(emb.layers.featureCross(), [all, all]);
    case 2:
      return apply(tf.layers.concatenate(), [all, apply(tf.layers.dot({ axes: 1 }), features.slice(0, 2))]);
    case 3:
      return apply(tf.layers.batchNormalization({ momentum: 0.8 }), all);
    default:
      return all;
  }
}

/** Losses by output: a probability, a number, and one of four classes. */
export const LOSSES = ['binaryCrossentropy', 'meanSquaredError', 'categoricalCrossentropy'] as const;

/**
 * No layer before batch normalization has a bias, which that takes away again: gradients of it are what rounding
 * leaves, and optimizers that divide by their size step by it.
 *
 * Inputs: ids [3], ids [3], numbers [3]; outputs: one to three, whose losses are LOSSES.
 */
export function buildNet(seed: number): tf.LayersModel {
  const random = new Random(seed);
  const ids = [0, 1].map(() => tf.input({ shape: [3], dtype: 'int32' }));
  const numbers = tf.input({ shape: [3] });
  const units = random.whole(2, 6);
  const pair = random.chance(0.5) ? sharedRows(random, ids, units) : ids.map((each) => sequence(random, each, units));
  const isEqual = pair.every(({ shape }) => shape[1] === units);
  const features = isEqual && random.chance(0.5) ? towers(random, pair, units) : pair;
  const third = apply(tf.layers.dense({ units: features[0]!.shape[1]!, useBias: false }), numbers);
  const isOfOneSize = features.every(({ shape }) => shape[1] === third.shape[1]);
  const x = isOfOneSize ? crossed(random, [...features, third]) : apply(tf.layers.concatenate(), [...features, third]);
  const heads = [
    tf.layers.dense({ units: 1, activation: 'sigmoid' }),
    tf.layers.dense({ units: 1, kernelRegularizer: tf.regularizers.l2({ l2: 0.01 }) }),
    tf.layers.dense({ units: 4, activation: 'softmax' }),
  ].slice(0, random.whole(1, 4));
  return tf.model({ inputs: [...ids, numbers], outputs: heads.map((head) => apply(head, x)) });
}
