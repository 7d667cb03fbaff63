/**
 * Two towers: features of users and of items become vectors, which meet in an inner product.
 * After Yi et al. 2019, "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item Recommendations".
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Feature } from './features.js';
import type { Options } from './options.mjs';

export interface Towers {
  readonly users: tf.LayersModel;
  readonly items: tf.LayersModel;
  /** Scores of all users and items of a batch, [batch, batch]. */
  readonly both: tf.LayersModel;
}

const EMBEDDING_DIM = 16;

/** A tower: an embedding of each feature, bags of ids by their mean, and a small network. */
function towerOf(name: string, features: readonly Feature[], dim: number, nextSeed: () => number): tf.LayersModel {
  const inputs = features.map((each) =>
    tf.input({ shape: [each.width], dtype: 'int32', name: `${name}_${each.name}` }),
  );
  const embeddings = features.map(({ size }) => ({
    inputDim: size,
    outputDim: EMBEDDING_DIM,
    combiner: 'mean' as const,
    seed: nextSeed(),
  }));
  const tables = emb.layers.distributedEmbedding({ name: `${name}_tables`, embeddings, output: 'concat' });
  const dense = (units: number, activation: 'relu' | 'linear'): tf.layers.Layer =>
    tf.layers.dense({ units, activation, kernelInitializer: tf.initializers.glorotNormal({ seed: nextSeed() }) });
  const joined = tables.apply(inputs) as tf.SymbolicTensor;
  const hidden = dense(2 * dim, 'relu').apply(joined);
  const vector = emb.layers.unitNormalization().apply(dense(dim, 'linear').apply(hidden) as tf.SymbolicTensor);
  return tf.model({ inputs, outputs: vector as tf.SymbolicTensor, name });
}

export function buildTowers(users: readonly Feature[], items: readonly Feature[], { dim, seed }: Options): Towers {
  let next = 1 + 100 * seed; // tfjs takes 0 for no seed
  const [ofUsers, ofItems] = [towerOf('users', users, dim, () => next++), towerOf('items', items, dim, () => next++)];
  const copies = (of: tf.LayersModel): tf.SymbolicTensor[] =>
    of.inputs.map(({ shape, name }) => tf.input({ shape: shape.slice(1), dtype: 'int32', name: `${name}_of_pair` }));
  const inputs = [copies(ofUsers), copies(ofItems)] as const;
  const vectors = [ofUsers.apply(inputs[0]), ofItems.apply(inputs[1])] as tf.SymbolicTensor[];
  const scores = emb.layers.candidateScores({ candidates: 'batch' }).apply(vectors);
  return { users: ofUsers, items: ofItems, both: tf.model({ inputs: inputs.flat(), outputs: scores }) };
}

/** A model of the best items, and their scores, for the features of users. */
export function retrievalOf(users: tf.LayersModel, items: tf.Tensor2D, k: number): tf.LayersModel {
  const best = emb.layers.bruteForceRetrieval({ name: 'best', candidates: items, k });
  return tf.model({ inputs: users.inputs, outputs: best.apply(users.outputs[0]!) });
}
