/** One exact step on variables of the `cpu` backend. */
import * as tf from '@tensorflow/tfjs';
import { SPARSE_APPLY, type SparseApplyFunction } from '../bag_tensors.js';
import { kernelSet } from '../registry.js';
import type { CpuBackend } from './cpu_backend.js';
import { OwnedTables } from './owned_tables.js';

/** Gives a table values that nobody else can see, in memory that suits tables. */
export function placeTable(table: tf.Variable, argument?: string): void {
  OwnedTables.of(tf.engine().backend as CpuBackend).own(table, kernelSet(), argument);
}

/** Gives the variables values that nobody else can see, then steps in place. */
export const sparseApply: SparseApplyFunction = (optimizer, table, slots, gradient, bags, options, hyper) => {
  placeTable(table);
  slots.forEach((slot, i) => placeTable(slot, `slots[${i}]`));
  const { values, rowSplits, weights } = bags;
  const inputs: Record<string, tf.Tensor> = { table, gradient, values, rowSplits };
  if (weights !== null) inputs['weights'] = weights;
  slots.forEach((slot, i) => (inputs[`slot${i}`] = slot));
  tf.engine().runKernel(SPARSE_APPLY[optimizer], inputs, { ...options, hyper: Array.from(hyper) });
};
