/** What happens to a row before and after the step of an optimizer. */
import type { Hyper } from '../../rules/hyper.js';
import type { HostTable } from '../kernel_set.js';

const NORM_EPSILON = 1e-7;

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
