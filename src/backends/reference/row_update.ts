/** One optimizer step of one row, and what happens to the row before and after it. */
import type { OptimizerName } from '../../base/types.js';
import type { Hyper } from '../hyper.js';
import type { HostTable } from '../kernel_set.js';
import { ELEMENT_UPDATES, stepOf, type Element } from './element_updates.js';

const NORM_EPSILON = 1e-7;

/** The optimizer alone: `row` (in double) and the row's slots are stepped. */
export function stepRow(
  optimizer: OptimizerName,
  row: number[],
  slots: readonly Float32Array[],
  id: number,
  gradient: readonly number[],
  hyper: Hyper,
): void {
  if (optimizer === 'rowWiseAdagrad') {
    stepRowWise(row, slots[0]!, id, gradient, hyper);
    return;
  }
  const update = ELEMENT_UPDATES[optimizer];
  const dim = row.length;
  row.forEach((w, c) => {
    const at = id * dim + c;
    const element: Element = { w, slot0: slots[0]?.[at] ?? 0, slot1: slots[1]?.[at] ?? 0 };
    update(element, gradient[c]!, hyper);
    row[c] = element.w;
    if (slots[0] !== undefined) slots[0][at] = element.slot0;
    if (slots[1] !== undefined) slots[1][at] = element.slot1;
  });
}

function stepRowWise(
  row: number[],
  accumulators: Float32Array,
  id: number,
  gradient: readonly number[],
  hyper: Hyper,
): void {
  const squares = gradient.reduce((sum, g) => sum + g * g, 0);
  const accumulator = accumulators[id]! + (row.length === 0 ? 0 : squares / row.length);
  accumulators[id] = accumulator;
  const root = Math.sqrt(accumulator + hyper.epsilon);
  row.forEach((w, c) => {
    row[c] = w - stepOf(hyper.learningRate * gradient[c]!, root);
  });
}

/** A row in double. */
export function readRow(table: HostTable, id: number): number[] {
  return Array.from(table.data.subarray(id * table.dim, (id + 1) * table.dim));
}

/** Each value limited to [clipGradientMin, clipGradientMax]. */
export function clipGradient(gradient: readonly number[], hyper: Hyper): number[] {
  return gradient.map((g) => Math.min(Math.max(g, hyper.clipGradientMin), hyper.clipGradientMax));
}

/** The row after decay: w -= f * w. */
export function decay(row: number[], hyper: Hyper): void {
  row.forEach((w, c) => (row[c] = w - hyper.weightDecay * w));
}

/** The limits on weights, then the constraint. */
export function limitRow(row: number[], hyper: Hyper): void {
  row.forEach((w, c) => (row[c] = Math.min(Math.max(w, hyper.clipWeightMin), hyper.clipWeightMax)));
  if (hyper.constraint === 1) row.forEach((w, c) => (row[c] = Math.max(w, 0)));
  if (hyper.constraint !== 2) return;
  const norm = Math.sqrt(row.reduce((sum, w) => sum + w * w, 0));
  const limited = Math.min(Math.max(norm, hyper.constraintMin), hyper.constraintMax);
  const desired = hyper.constraintRate * limited + (1 - hyper.constraintRate) * norm;
  row.forEach((w, c) => (row[c] = (w * desired) / (NORM_EPSILON + norm)));
}
