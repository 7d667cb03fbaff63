/**
 * Reference for `SparseApply*`: one exact step in place.
 * Order: sum over occurrences, clip by norm, clip by value, weight decay, optimizer, clip weight, constraint.
 */
import { RULES, stepsIdleRows, type OptimizerName } from '../../rules/rules.js';
import { unpackHyper, type Hyper } from '../../rules/hyper.js';
import type { BagOptions, HostBags, HostTable } from '../kernel_set.js';
import { group, type Groups } from './group.js';
import { clipGradient, decay, limitRow, readRow } from './row_update.js';

export function sparseApply(
  optimizer: OptimizerName,
  table: HostTable,
  slots: readonly Float32Array[],
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  packed: Float32Array,
): void {
  const hyper = unpackHyper(packed);
  // Grouping checks the ids, so a bad id leaves everything as it was.
  const groups = clipByNorm(group(gradient, bags, table, options), hyper.clipNorm);
  const touched = new Set<number>();
  for (const { id, gradient: sum } of groups) {
    touched.add(id);
    const row = readRow(table, id);
    decay(row, hyper);
    RULES[optimizer].stepRow(row, slots, id, clipGradient(sum, hyper), hyper);
    limitRow(row, hyper);
    table.data.set(row, id * table.dim);
  }
  if (stepsIdleRows(optimizer, hyper)) stepUntouched(optimizer, table, slots, touched, hyper);
}

/** Rows without ids: the optimizer with a zero gradient and nothing else. */
function stepUntouched(
  optimizer: OptimizerName,
  table: HostTable,
  slots: readonly Float32Array[],
  touched: ReadonlySet<number>,
  hyper: Hyper,
): void {
  const zeros = new Array<number>(table.dim).fill(0);
  for (let id = 0; id < table.rows; id++) {
    if (touched.has(id)) continue;
    const row = readRow(table, id);
    RULES[optimizer].stepRow(row, slots, id, zeros, hyper);
    table.data.set(row, id * table.dim);
  }
}

/** Scales all gradients together so that their common L2 norm is at most clipNorm. */
function clipByNorm(groups: Groups, clipNorm: number): Groups {
  if (!(clipNorm > 0)) return groups;
  let squares = 0;
  for (const { gradient } of groups) for (const g of gradient) squares += g * g;
  const norm = Math.sqrt(squares);
  if (norm <= clipNorm) return groups;
  return groups.map(({ id, gradient }) => ({ id, gradient: gradient.map((g) => (g * clipNorm) / norm) }));
}
