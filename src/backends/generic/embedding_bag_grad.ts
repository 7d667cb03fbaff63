/** `EmbeddingBagGrad` from stock ops: ids are grouped on the host, gradients are summed by scatter-add. */
import * as tf from '@tensorflow/tfjs';
import { groupRows, segmentsOf, type BagAttributes } from './host_ids.js';
import { divisors, normScales, segmentSum } from './segment_ops.js';

export interface EmbeddingBagGradInputs {
  readonly gradient: tf.Tensor2D;
  readonly values: tf.Tensor1D;
  readonly rowSplits: tf.Tensor1D;
  readonly weights?: tf.Tensor1D | null | undefined;
  readonly table?: tf.Tensor2D | null | undefined;
}

/** What each id passes on of its bag's gradient, [nnz]: weight / divisor. */
function coefficients(
  inputs: EmbeddingBagGradInputs,
  attributes: BagAttributes,
): { bagOf: Int32Array; factors: tf.Tensor1D } {
  const { values, rowSplits } = inputs;
  const weights = inputs.weights ?? null;
  const segments = segmentsOf(rowSplits, values.size);
  const bagOf = tf.tensor1d(segments.bagOf, 'int32');
  const divideBy = divisors(attributes.combiner, segments, bagOf, weights);
  const own = weights ?? tf.ones<tf.Rank.R1>([values.size]);
  const factors = divideBy === null ? own : tf.divNoNan<tf.Tensor1D>(own, tf.gather(divideBy, bagOf));
  return { bagOf: segments.bagOf, factors };
}

/** With s = maxNorm / |e| the derivative of s e along G is s (G - e (e . G) / |e|^2). */
function throughScaling(sums: tf.Tensor2D, rows: tf.Tensor2D, maxNorm: number): tf.Tensor2D {
  const scales = normScales(rows, maxNorm);
  const squares = rows.square().sum(1, true);
  const along = rows.mul(tf.divNoNan(rows.mul(sums).sum(1, true), squares));
  return tf.where(scales.less(1), scales.mul(sums.sub(along)), sums as tf.Tensor) as tf.Tensor2D;
}

/** uniqueIds [u] ascending and rowGradients [u, dim]. */
export function embeddingBagGrad(
  inputs: EmbeddingBagGradInputs,
  attributes: BagAttributes,
): [uniqueIds: tf.Tensor1D, rowGradients: tf.Tensor2D] {
  const { gradient, values } = inputs;
  const table = inputs.table ?? null;
  const rows = attributes.rows ?? table!.shape[0];
  const groups = groupRows(values, rows, attributes);
  const dim = gradient.shape[1];
  return tf.tidy(() => {
    const uniqueIds = tf.tensor1d(groups.uniqueIds, 'int32');
    if (groups.uniqueIds.length === 0) return [uniqueIds, tf.zeros([0, dim])];
    const { bagOf, factors } = coefficients(inputs, attributes);
    const { positions } = groups;
    const isWhole = positions.length === values.size;
    const kept = isWhole ? factors : tf.gather(factors, tf.tensor1d(positions, 'int32'));
    const bags = isWhole ? bagOf : positions.map((at) => bagOf[at]!);
    const each = tf.gather(gradient, tf.tensor1d(bags, 'int32')).mul<tf.Tensor2D>(kept.expandDims(1));
    const groupOf = tf.tensor1d(groups.groupOf, 'int32');
    const sums = segmentSum<tf.Rank.R2>(each, groupOf, groups.uniqueIds.length);
    if (!(attributes.maxNorm > 0) || table === null) return [uniqueIds, sums];
    return [uniqueIds, throughScaling(sums, tf.gather(table, uniqueIds), attributes.maxNorm)];
  });
}
