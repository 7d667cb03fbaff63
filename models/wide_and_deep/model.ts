/**
 * Wide and deep: the wide part adds up one trained number per id and remembers single values; the deep part sends
 * learned vectors through a small network and generalizes over their combinations.
 * After Cheng et al. 2016, "Wide & Deep Learning for Recommender Systems".
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { InputSchema } from './encoder.js';

const DIM = 8;
const HIDDEN = 32;
/** Share of feature vectors that a training step leaves out, so that no prediction hangs on a single one. */
const DROPOUT = 0.2;
/** Pulls the vectors of a step towards zero, by their squares. */
const L2 = 0.001;

export function buildModel({ singles, ragged }: InputSchema, seed: number): tf.LayersModel {
  let nextSeed = 1 + 100 * seed; // tfjs takes 0 for no seed
  const inputs: tf.SymbolicTensor[] = [];
  const wide: tf.SymbolicTensor[] = [];
  const deep: tf.SymbolicTensor[] = [];
  const vectors = (name: string) => ({
    name,
    outputDim: DIM,
    embeddingsInitializer: tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed: nextSeed++ }),
    embeddingsRegularizer: tf.regularizers.l2({ l2: L2 }),
  });
  const numbers = (name: string) => ({ name, outputDim: 1, embeddingsInitializer: 'zeros' as const });
  if (singles.count > 0) {
    const ids = tf.input({ shape: [singles.count], dtype: 'int32', name: 'features' });
    inputs.push(ids);
    const inputDim = singles.rows;
    const looked = emb.layers.embedding({ ...vectors('deep_features'), inputDim }).apply(ids);
    // One decision per vector, not per number. The mask of a step repeats, but rows are in another order each epoch.
    const noiseShape = [null, singles.count, 1] as unknown as number[];
    const kept = tf.layers.dropout({ rate: DROPOUT, noiseShape, seed: nextSeed++ }).apply(looked as tf.SymbolicTensor);
    deep.push(tf.layers.flatten().apply(kept) as tf.SymbolicTensor);
    const summed = emb.layers.embedding({ ...numbers('wide_features'), inputDim, combiner: 'sum' }).apply(ids);
    wide.push(summed as tf.SymbolicTensor);
  }
  ragged.forEach(({ rows }, i) => {
    const ids = tf.input({ shape: [null], dtype: 'int32', name: `ragged_${i}` });
    inputs.push(ids);
    const bags = { inputDim: rows, combiner: 'mean' } as const;
    const pooled = emb.layers.raggedEmbedding({ ...vectors(`deep_ragged_${i}`), ...bags }).apply(ids);
    deep.push(pooled as tf.SymbolicTensor);
    const averaged = emb.layers.raggedEmbedding({ ...numbers(`wide_ragged_${i}`), ...bags }).apply(ids);
    wide.push(averaged as tf.SymbolicTensor);
  });
  // A dense layer over all vectors side by side, as the sum of one layer for each input: joining and splitting costs
  // more than the product on the cpu backend.
  const parts = deep.map((vectors, i) =>
    tf.layers
      .dense({ units: HIDDEN, useBias: i === 0, kernelInitializer: tf.initializers.heNormal({ seed: nextSeed++ }) })
      .apply(vectors),
  ) as tf.SymbolicTensor[];
  const sum = parts.length === 1 ? parts[0]! : tf.layers.add().apply(parts);
  const hidden = tf.layers.activation({ activation: 'relu' }).apply(sum);
  const deepLogit = tf.layers
    .dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: nextSeed++ }) })
    .apply(hidden) as tf.SymbolicTensor;
  const logit = tf.layers.add().apply([...wide, deepLogit]);
  const outputs = tf.layers.activation({ activation: 'sigmoid' }).apply(logit) as tf.SymbolicTensor;
  return tf.model({ inputs, outputs, name: 'wide_and_deep' });
}
