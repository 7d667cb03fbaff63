/** Rows looked up or stepped each by itself: bags of one id. */
import * as tf from '@tensorflow/tfjs';
import { sharedUniformSplits } from '../ids/shared_splits.js';
import type { BagTensors } from './bag_tensors.js';
import type { LookupGradient } from './contract.js';
import { SINGLE_ROW } from './kernel_set.js';
import { currentBackend } from './registry.js';

/** One bag per id. Call inside a tidy. */
export function singleRows(values: tf.Tensor1D): BagTensors {
  // An op knows the number of ids when it runs, which may be another one when a step is repeated.
  const ofOp = currentBackend().ops?.singleSplits(values);
  return {
    values,
    rowSplits: ofOp ?? tf.tensor1d(sharedUniformSplits(values.shape[0], 1), 'int32'),
    weights: null,
  };
}

/** Rows and their summed gradients as a lookup of bags of one id each. */
export function ofRows(ids: tf.Tensor1D, gradient: tf.Tensor2D): LookupGradient {
  return { gradient, bags: singleRows(ids), options: SINGLE_ROW };
}
