/** Shared types and constants. */

import type * as tf from '@tensorflow/tfjs';

/** How the rows of one bag become one row. */
export type Combiner = 'sum' | 'mean' | 'sqrtn' | 'max';
export const COMBINERS: readonly Combiner[] = ['sum', 'mean', 'sqrtn', 'max'];
/** Those that weigh rows: kernels, TPUs and Keras RS have these, and weights need one of them. */
export const WEIGHING: readonly Combiner[] = ['sum', 'mean', 'sqrtn'];
export function isWeighing(combiner: unknown): combiner is Combiner {
  return WEIGHING.includes(combiner as Combiner);
}

/** What an id outside [0, rows) does: an error, or a row of zeros that stays in the divisor. */
export type OutOfRange = 'error' | 'zero';
export const OUT_OF_RANGE: readonly OutOfRange[] = ['error', 'zero'];

/** A tensor under the name by which it is saved. */
export interface NamedTensor {
  readonly name: string;
  readonly tensor: tf.Tensor;
}

/** Smallest and largest id: ids are whole int32. */
export const INT32_MIN = -2147483648;
export const INT32_MAX = 2147483647;
