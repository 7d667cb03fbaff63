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

export function buildModel({ singles, ragged }: InputSchema, seed: number): tf.LayersModel {
  let nextSeed = 1 + 100 * seed; // tfjs takes 0 for no seed
  const inputs: tf.SymbolicTensor[] = [];
  const wide: tf.SymbolicTensor[] = [];
  const deep: tf.SymbolicTensor[] = [];
  const uniform = (): ReturnType<typeof tf.initializers.randomUniform> =>
    tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed: nextSeed++ });
  if (singles.count > 0) {
    const ids = tf.input({ shape: [singles.count], dtype: 'int32', name: 'features' });
    inputs.push(ids);
    const vectors = emb.layers
      .embedding({ inputDim: singles.rows, outputDim: DIM, embeddingsInitializer: uniform(), name: 'deep_features' })
      .apply(ids) as tf.SymbolicTensor;
    // One decision per vector, not per number. The mask of a step repeats, but rows are in another order each epoch.
    const noiseShape = [null, singles.count, 1] as unknown as number[];
    const kept = tf.layers.dropout({ rate: DROPOUT, noiseShape, seed: nextSeed++ }).apply(vectors);
    deep.push(tf.layers.flatten().apply(kept) as tf.SymbolicTensor);
    wide.push(
      emb.layers
        .embedding({
          inputDim: singles.rows,
          outputDim: 1,
          combiner: 'sum',
          embeddingsInitializer: 'zeros',
          name: 'wide_features',
        })
        .apply(ids) as tf.SymbolicTensor,
    );
  }
  ragged.forEach(({ rows }, i) => {
    const ids = tf.input({ shape: [null], dtype: 'int32', name: `ragged_${i}` });
    inputs.push(ids);
    const shared = { inputDim: rows, combiner: 'mean' } as const;
    deep.push(
      emb.layers
        .raggedEmbedding({ ...shared, outputDim: DIM, embeddingsInitializer: uniform(), name: `deep_ragged_${i}` })
        .apply(ids) as tf.SymbolicTensor,
    );
    wide.push(
      emb.layers
        .raggedEmbedding({ ...shared, outputDim: 1, embeddingsInitializer: 'zeros', name: `wide_ragged_${i}` })
        .apply(ids) as tf.SymbolicTensor,
    );
  });
  const joined = deep.length === 1 ? deep[0]! : (tf.layers.concatenate().apply(deep) as tf.SymbolicTensor);
  const hidden = tf.layers
    .dense({ units: HIDDEN, activation: 'relu', kernelInitializer: tf.initializers.heNormal({ seed: nextSeed++ }) })
    .apply(joined);
  const deepLogit = tf.layers
    .dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: nextSeed++ }) })
    .apply(hidden) as tf.SymbolicTensor;
  const logit = tf.layers.add().apply([...wide, deepLogit]);
  const outputs = tf.layers.activation({ activation: 'sigmoid' }).apply(logit) as tf.SymbolicTensor;
  return tf.model({ inputs, outputs, name: 'wide_and_deep' });
}
