/**
 * DLRM: numbers go through a small network to a vector as wide as the tables; the inner products of all pairs of vectors
 * and that vector go through another one. After Naumov et al. 2019, "Deep Learning Recommendation Model for
 * Personalization and Recommendation Systems".
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { NUMBERS, VALUES } from './data.js';
import type { Options } from './options.mjs';

export function buildModel({ rows, hotness, dim, seed }: Options): tf.LayersModel {
  let next = 1 + 100 * seed; // tfjs takes 0 for no seed
  const chain = (x: tf.SymbolicTensor, sizes: readonly number[], last: 'relu' | 'sigmoid'): tf.SymbolicTensor =>
    sizes.reduce((input, units, i) => {
      const kernelInitializer = tf.initializers.glorotNormal({ seed: next++ });
      const activation = i + 1 < sizes.length ? 'relu' : last;
      return tf.layers.dense({ units, activation, kernelInitializer }).apply(input) as tf.SymbolicTensor;
    }, x);
  const numbers = tf.input({ shape: [NUMBERS], name: 'numbers' });
  const ids = Array.from({ length: VALUES }, (_, i) =>
    tf.input({ shape: [hotness], dtype: 'int32', name: `ids_${i}` }),
  );
  const embeddings = ids.map(() => ({ inputDim: rows, outputDim: dim, combiner: 'sum' as const, seed: next++ }));
  const vectors = emb.layers.distributedEmbedding({ name: 'tables', embeddings }).apply(ids) as tf.SymbolicTensor[];
  const dense = chain(numbers, [64, dim], 'relu');
  const pairs = emb.layers.dotInteraction().apply([dense, ...vectors]) as tf.SymbolicTensor;
  const joined = tf.layers.concatenate().apply([dense, pairs]) as tf.SymbolicTensor;
  return tf.model({ inputs: [numbers, ...ids], outputs: chain(joined, [64, 32, 1], 'sigmoid'), name: 'dlrm' });
}
