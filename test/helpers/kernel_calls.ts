/** One call of kernels, and one step of a backend, from positional arguments. */
import type * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../../src/backends/bag_tensors.js';
import type { Backend } from '../../src/backends/contract.js';
import type { BagOptions, HostBags, HostTable, KernelSet } from '../../src/backends/kernel_set.js';
import type { UpdateName } from '../../src/rules/rules.js';
import { tableOf } from '../../src/backends/table.js';

/** Writes the pooled rows of one lookup. */
export function lookUpInto(
  set: Pick<KernelSet, 'lookUp'>,
  table: HostTable,
  bags: HostBags,
  options: BagOptions,
  pooled: Float32Array,
): void {
  set.lookUp([{ table, bags, options, pooled }]);
}

/** Steps one table. */
export function stepOne(
  set: Pick<KernelSet, 'step'>,
  optimizer: UpdateName,
  table: HostTable,
  slots: readonly Float32Array[],
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  hyper: Float32Array,
  useStarts: Int32Array | null = null,
): void {
  set.step(optimizer, [{ table, slots, gradient, bags, options, hyper, useStarts }]);
}

/** Steps one variable by one lookup. */
export function stepVariable(
  backend: Pick<Backend, 'step'>,
  optimizer: UpdateName,
  table: tf.Variable,
  slots: readonly tf.Variable[],
  gradient: tf.Tensor2D,
  { values, rowSplits, weights }: BagTensors,
  options: BagOptions,
  hyper: Float32Array,
): void {
  const entries = [{ gradient, bags: { values, rowSplits, weights }, options }];
  backend.step([{ optimizer, table: tableOf(table), slots, entries, dense: null, hyper }]);
}
