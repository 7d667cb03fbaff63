/** `EmbeddingBagWeightsGrad` from stock ops. */
import * as tf from '@tensorflow/tfjs';
import { lookedUpRows } from './embedding_bag.js';
import { checkIds, segmentsOf, type BagAttributes } from './host_ids.js';
import { divisors, segmentSum } from './segment_ops.js';

export interface EmbeddingBagWeightsGradInputs {
  readonly table: tf.Tensor2D;
  readonly gradient: tf.Tensor2D;
  readonly values: tf.Tensor1D;
  readonly rowSplits: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
}

/** Gradient with respect to the per-id weights, [nnz]. */
export function embeddingBagWeightsGrad(inputs: EmbeddingBagWeightsGradInputs, attributes: BagAttributes): tf.Tensor1D {
  const { table, gradient, values, rowSplits, weights } = inputs;
  checkIds(values, table.shape[0], attributes);
  return tf.tidy(() => {
    if (values.size === 0) return tf.zeros([0]);
    const segments = segmentsOf(rowSplits, values.size);
    const bagOf = tf.tensor1d(segments.bagOf, 'int32');
    const rows = lookedUpRows(table, values, attributes.maxNorm);
    const dots = rows.mul(tf.gather(gradient, bagOf)).sum<tf.Tensor1D>(1);
    const divideBy = divisors(attributes.combiner, segments, bagOf, weights);
    if (divideBy === null) return dots;
    const totals = segmentSum<tf.Rank.R1>(weights.mul(dots), bagOf, segments.counts.length);
    const own = tf.gather(divideBy, bagOf);
    const total = tf.gather(totals, bagOf);
    // What the bag's own divisor takes back when a weight grows.
    const back =
      attributes.combiner === 'mean' ? tf.divNoNan(total, own) : weights.mul(tf.divNoNan(tf.divNoNan(total, own), own));
    return tf.divNoNan<tf.Tensor1D>(dots.sub(back), own);
  });
}
