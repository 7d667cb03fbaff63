/** One exact step on variables of the `cpu` backend. */
import * as tf from '@tensorflow/tfjs';
import { PACKED_APPLY, SPARSE_APPLY, type PackedApplyFunction, type SparseApplyFunction } from '../bag_tensors.js';
import { runOnEngine } from '../../tfjs/engine/engine_run.js';
import { kernelSet } from '../registry.js';
import type { CpuBackend } from './cpu_backend.js';
import { OwnedTables } from './owned_tables.js';

/** Gives a table values that nobody else can see, in memory that suits tables. */
export function placeTable(table: tf.Variable, argument?: string): void {
  OwnedTables.of(tf.engine().backend as CpuBackend).own(table, kernelSet(), argument);
}

/** Gives the variables values that nobody else can see, then steps in place. */
export const sparseApply: SparseApplyFunction = (optimizer, ...step) => {
  stepInPlace(SPARSE_APPLY[optimizer], {}, ...step);
};

/** The same of packed rows. */
export const packedApply: PackedApplyFunction = (optimizer, table, form, ...step) => {
  stepInPlace(PACKED_APPLY, { optimizer, ...form }, table, ...step);
};

type Step = Parameters<SparseApplyFunction> extends [unknown, ...infer Rest] ? Rest : never;

function stepInPlace(kernelName: string, attrs: object, ...[table, slots, gradient, bags, options, hyper]: Step): void {
  placeTable(table);
  slots.forEach((slot, i) => placeTable(slot, `slots[${i}]`));
  const { values, rowSplits, weights } = bags;
  const [slot0, slot1] = slots;
  const inputs = { table, gradient, values, rowSplits, weights, slot0, slot1 };
  runOnEngine(kernelName, inputs, { ...attrs, ...options, hyper: Array.from(hyper) });
}
