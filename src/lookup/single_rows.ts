/** Rows looked up or stepped each by itself: bags of one id. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import { backendPart } from '../backends/registry.js';
import { sharedUniformSplits } from '../ids/shared_splits.js';

/** One bag per id. Call inside a tidy. */
export function singleRows(values: tf.Tensor1D): BagTensors {
  const { stepOps } = backendPart();
  // An op knows the number of ids when it runs, which may be another one when a step is repeated.
  const rowSplits = stepOps?.singleSplits(values) ?? tf.tensor1d(sharedUniformSplits(values.shape[0], 1), 'int32');
  return { values, rowSplits, weights: null };
}
