/** Rows looked up or stepped each by itself: bags of one id. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import { sharedUniformSplits } from '../ragged/shared_splits.js';

/** One bag per id. Call inside a tidy. */
export function singleRows(values: tf.Tensor1D): BagTensors {
  return { values, rowSplits: tf.tensor1d(sharedUniformSplits(values.shape[0], 1), 'int32'), weights: null };
}
