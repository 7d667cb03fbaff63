/** A model that is exported alike by every entry of the package. */
import * as tf from '@tensorflow/tfjs';
import type * as emb from '../../../../src/index.js';

type Layers = Pick<typeof emb, 'layers'>;

/** Two features, one of them ragged, and two outputs; the weights are always the same. */
export function makePageModel({ layers }: Layers): tf.LayersModel {
  const seen = tf.input({ shape: [3], dtype: 'int32', name: 'seen' });
  const age = tf.input({ shape: [2], name: 'age' });
  const movies = layers.raggedEmbedding({ inputDim: 9, outputDim: 4, combiner: 'mean', name: 'movies', seed: 1 });
  const kernelInitializer = tf.initializers.glorotNormal({ seed: 2 });
  const wide = tf.layers.dense({ units: 2, name: 'wide', kernelInitializer }).apply(age) as tf.SymbolicTensor;
  const pooled = movies.apply(seen) as unknown as tf.SymbolicTensor;
  const joined = tf.layers.concatenate({ name: 'joined' }).apply([pooled, wide]) as tf.SymbolicTensor;
  return tf.model({ inputs: [seen, age], outputs: [joined, wide], name: 'page' });
}

export const PAGE_OPTIONS: emb.SavedModelOptions = {
  customOps: true,
  ragged: 'composite',
  signatures: {
    vectors: { inputs: { history: 'seen' }, outputs: { vector: 'movies' } },
    wide_only: { outputs: { logits: 'wide' } },
  },
};
