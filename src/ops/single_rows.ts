/** Rows looked up or stepped each by itself: bags of one id. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import type { BagOptions } from '../backends/kernel_set.js';
import { sharedUniformSplits } from '../ragged/shared_splits.js';

/** Each bag is its one row, as it is. */
export const SINGLE_ROW: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

/** One bag per id. Call inside a tidy. */
export function singleRows(values: tf.Tensor1D): BagTensors {
  return { values, rowSplits: tf.tensor1d(sharedUniformSplits(values.shape[0], 1), 'int32'), weights: null };
}
