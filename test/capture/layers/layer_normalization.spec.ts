/** Captured steps of layers that normalize each sample, alone and in sequences, whose gradients tfjs makes of slices. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { itIsCapturedRight, type Batch } from './checked_models.js';
import { describeSteps } from '../training.js';
import { drawIds } from '../twins.js';
import type { Random } from '../../helpers/random.js';

const [ROWS, LENGTH, BATCH, DIM] = [30, 5, 8, 4];

const apply = (layer: tf.layers.Layer, x: tf.SymbolicTensor): tf.SymbolicTensor => layer.apply(x) as tf.SymbolicTensor;

function modelOf(isOfSequences: boolean): tf.LayersModel {
  const ids = tf.input({ shape: [LENGTH], dtype: 'int32' });
  const combiner = isOfSequences ? null : 'mean';
  let x = emb.layers.embedding({ inputDim: ROWS, outputDim: DIM, combiner }).apply(ids) as tf.SymbolicTensor;
  x = apply(tf.layers.layerNormalization(), x);
  x = apply(tf.layers.dense({ units: 6, activation: 'relu' }), x);
  x = apply(tf.layers.layerNormalization({ axis: -1, epsilon: 1e-3 }), x);
  if (isOfSequences) x = apply(tf.layers.globalAveragePooling1d({}), x);
  return tf.model({ inputs: ids, outputs: apply(tf.layers.dense({ units: 1, activation: 'sigmoid' }), x) });
}

function repeatedModel(): tf.LayersModel {
  const ids = tf.input({ shape: [LENGTH], dtype: 'int32' });
  let x = emb.layers.embedding({ inputDim: ROWS, outputDim: DIM, combiner: 'sum' }).apply(ids) as tf.SymbolicTensor;
  x = apply(tf.layers.repeatVector({ n: 3 }), x);
  x = apply(tf.layers.flatten(), apply(tf.layers.dense({ units: 3, activation: 'tanh' }), x));
  return tf.model({ inputs: ids, outputs: apply(tf.layers.dense({ units: 1, activation: 'sigmoid' }), x) });
}

function draw(random: Random): Batch {
  const x = drawIds(random, BATCH, LENGTH, ROWS);
  return { x, y: tf.tidy(() => x.sum(1, true).mod(2).toFloat()) };
}

describeSteps('Captured steps of layers that repeat what they take', () => {
  for (const [title, build] of [
    ['normalized samples', () => modelOf(false)],
    ['normalized sequences', () => modelOf(true)],
    ['repeated vectors', repeatedModel],
  ] as const) {
    describe(title, () => itIsCapturedRight({ build, draw, bad: [] }));
  }
});
