/** Pieces that the composed kernels share, from stock ops. Call inside a tidy. */
import * as tf from '@tensorflow/tfjs';
import type { Combiner } from '../../base/types.js';
import type { Segments } from './host_ids.js';

/** Sums the entries of each group: [n, ...] -> [groups, ...]. */
export function segmentSum<R extends tf.Rank>(
  entries: tf.Tensor<R>,
  groupOf: tf.Tensor1D,
  groups: number,
): tf.Tensor<R> {
  const shape = [groups, ...entries.shape.slice(1)] as tf.ShapeMap[R];
  if (entries.size === 0 || groups === 0) return tf.zeros(shape);
  return tf.scatterND(groupOf.expandDims(1), entries, shape);
}

/** What the weighted sum of each bag is divided by, [batch]; null for 'sum'. */
export function divisors(
  combiner: Combiner,
  segments: Segments,
  bagOf: tf.Tensor1D,
  weights: tf.Tensor1D | null,
): tf.Tensor1D | null {
  if (combiner === 'sum') return null;
  const { counts } = segments;
  if (weights === null) return tf.tensor1d(combiner === 'mean' ? counts : counts.map(Math.sqrt));
  const batch = counts.length;
  if (combiner === 'mean') return segmentSum(weights, bagOf, batch);
  return segmentSum<tf.Rank.R1>(weights.square(), bagOf, batch).sqrt();
}

/** Rows scaled to at most maxNorm (0: off), [n, dim]. */
export function limitNorms(rows: tf.Tensor2D, maxNorm: number): tf.Tensor2D {
  return maxNorm > 0 ? rows.mul(normScales(rows, maxNorm)) : rows;
}

/** What each row is multiplied by, [n, 1]. */
export function normScales(rows: tf.Tensor2D, maxNorm: number): tf.Tensor2D {
  const norms = rows.square().sum<tf.Tensor2D>(1, true).sqrt();
  return tf.where(norms.greater(maxNorm), tf.divNoNan(tf.scalar(maxNorm), norms), tf.onesLike(norms)) as tf.Tensor2D;
}

/** Whether each id names a row, as 0 and 1, and ids that can be gathered safely. */
export function safeIds(values: tf.Tensor1D, rows: number): { ids: tf.Tensor1D; present: tf.Tensor1D } {
  const isPresent = tf.logicalAnd(values.greaterEqual(0), values.less(rows));
  return { ids: tf.where(isPresent, values, tf.zerosLike(values)), present: isPresent.cast('float32') };
}
