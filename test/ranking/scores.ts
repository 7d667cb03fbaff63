/** Models that score items, and what specs of losses and metrics draw. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../helpers/random.js';

export const USERS = 20;
export const ITEMS = 30;

/** Scores of items [batch, items] for a user. */
export function scorer(columns: number | null = null): tf.LayersModel {
  const user = tf.input({ shape: [1], dtype: 'int32' });
  const items = tf.input({ shape: [columns], dtype: 'int32' });
  const { embedding } = emb.layers;
  const ofUser = embedding({ inputDim: USERS, outputDim: 4, combiner: 'sum' }).apply(user) as tf.SymbolicTensor;
  const ofItems = embedding({ inputDim: ITEMS, outputDim: 4 }).apply(items) as tf.SymbolicTensor;
  const scores = tf.layers.dot({ axes: [2, 1] }).apply([ofItems, ofUser]) as tf.SymbolicTensor;
  return tf.model({ inputs: [user, items], outputs: scores });
}

/** Scores of users for items that all rows share. */
export function sharedScorer(candidates: emb.SharedCandidates): tf.LayersModel {
  const user = tf.input({ shape: [1], dtype: 'int32' });
  const items = tf.input({ shape: [null], dtype: 'int32' });
  const { candidateScores, embedding } = emb.layers;
  const ofUser = embedding({ inputDim: USERS, outputDim: 4, combiner: 'sum' }).apply(user) as tf.SymbolicTensor;
  const ofItems = embedding({ inputDim: ITEMS, outputDim: 4 }).apply(items) as tf.SymbolicTensor;
  return tf.model({ inputs: [user, items], outputs: candidateScores({ candidates }).apply([ofUser, ofItems]) });
}

/** Ids [batch, width] in [0, count). */
export function drawn(random: Random, batch: number, width: number, count: number): tf.Tensor2D {
  const ids = Int32Array.from({ length: batch * width }, () => random.whole(0, count));
  return tf.tensor2d(ids, [batch, width], 'int32');
}

/** Numbers in [-2, 2). */
export function drawnScores(random: Random, batch: number, width: number): Float32Array {
  return Float32Array.from({ length: batch * width }, () => random.next() * 4 - 2);
}
