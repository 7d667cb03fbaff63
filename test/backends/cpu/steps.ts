/** Exact steps on variables of the backend in use. */
import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import type { BagOptions } from '../../../src/backends/kernel_set.js';
import { currentBackend } from '../../../src/backends/registry.js';
import { stepVariable } from '../../helpers/kernel_calls.js';

export const SUM: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

/** One SGD step of learning rate 1 with a gradient of ones; all ids in one bag. */
export function stepSgd(table: tf.Variable, ids: number[]): void {
  tf.tidy(() => {
    const values = tf.tensor1d(ids, 'int32');
    const rowSplits = tf.tensor1d([0, ids.length], 'int32');
    const gradient = tf.ones([1, table.shape[1]!]) as tf.Tensor2D;
    const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
    stepVariable(currentBackend(), 'sgd', table, [], gradient, { values, rowSplits, weights: null }, SUM, hyper);
  });
}

/** The sum of the rows of ids. */
export function lookUp(table: tf.Variable | tf.Tensor, ids: number[]): tf.Tensor {
  return tf.tidy(() => {
    const values = tf.tensor1d(ids, 'int32');
    const rowSplits = tf.tensor1d([0, ids.length], 'int32');
    return tf.engine().runKernel('EmbeddingBag', { table, values, rowSplits } as never, { ...SUM }) as tf.Tensor;
  });
}
