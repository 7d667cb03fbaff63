/** `EmbeddingBag` from stock ops: gather, weight, scatter-add, divide. */
import * as tf from '@tensorflow/tfjs';
import { fitting } from '../kernel_set.js';
import { checkIds, segmentsOf, type BagAttributes } from './host_ids.js';
import { divisors, limitNorms, safeIds, segmentSum } from './segment_ops.js';

export interface EmbeddingBagInputs {
  readonly table: tf.Tensor2D;
  readonly values: tf.Tensor1D;
  readonly rowSplits: tf.Tensor1D;
  readonly weights?: tf.Tensor1D | null | undefined;
}

/** Looked-up rows [nnz, dim] under maxNorm; zeros for ids outside the table, which never reach the gather. */
export function lookedUpRows(table: tf.Tensor2D, values: tf.Tensor1D, maxNorm: number): tf.Tensor2D {
  const [rows, dim] = table.shape;
  if (rows === 0 || values.size === 0) return tf.zeros([values.size, dim]);
  const { ids, present } = safeIds(values, rows);
  return limitNorms(tf.gather(table, ids), maxNorm).mul(present.expandDims(1));
}

/** Pooled rows [batch, dim]. */
export function embeddingBag(inputs: EmbeddingBagInputs, attributes: BagAttributes): tf.Tensor2D {
  const { table, values, rowSplits } = inputs;
  const weights = inputs.weights ?? null;
  checkIds(values, table.shape[0], attributes);
  const shape = [rowSplits.size - 1, table.shape[1]];
  const pool = (): tf.Tensor2D => {
    const segments = segmentsOf(rowSplits, values.size);
    const bagOf = tf.tensor1d(segments.bagOf, 'int32');
    const rows = lookedUpRows(table, values, attributes.maxNorm);
    const weighted = weights === null ? rows : rows.mul<tf.Tensor2D>(weights.expandDims(1));
    const sums = segmentSum<tf.Rank.R2>(weighted, bagOf, segments.counts.length);
    const divideBy = divisors(attributes.combiner, segments, bagOf, weights);
    return divideBy === null ? sums : tf.divNoNan<tf.Tensor2D>(sums, divideBy.expandDims(1));
  };
  return fitting('table', 'pooled rows', shape, () => tf.tidy(pool));
}
