/**
 * Reference for `SparseApply*`: one exact step in place.
 * Order: sum over occurrences, clip by norm, clip by value, weight decay, optimizer, clip weight, constraint.
 */
import { UPDATES, stepsIdleRows, type UpdateName } from '../../rules/rules.js';
import { unpackHyper, type Hyper } from '../../rules/hyper.js';
import { type BagOptions, floatTable, type HostBags, type HostTable } from '../kernel_set.js';
import { group, type Groups } from './group.js';
import { randomWords } from '../counter_random.js';
import { keyOf } from '../rounding.js';
import { inRange } from './bags.js';

/** The rows that the step writes: those of the ids, or all. */
function steppedRows(optimizer: UpdateName, { rows }: HostTable, { values }: HostBags, hyper: Hyper): Set<number> {
  const all = stepsIdleRows(optimizer, hyper);
  return new Set(all ? Array.from({ length: rows }, (_, row) => row) : values.filter((id) => inRange(id, rows)));
}

export function sparseApply(
  optimizer: UpdateName,
  table: HostTable,
  slots: readonly Float32Array[],
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  packed: Float32Array,
): void {
  const { codec, rows, dim } = table;
  const hyper = unpackHyper(packed);
  const floats = floatTable(codec.unpack(table.data, dim), rows, dim);
  stepFloats(optimizer, floats, slots, gradient, bags, options, hyper);
  if (codec.isPlain) return;
  const perRow = codec.words(dim);
  const random = new Int32Array(2 * dim + 2);
  for (const row of steppedRows(optimizer, table, bags, hyper)) {
    randomWords(random, keyOf(hyper), { firstRow: row, rowStep: 1, rows: 1, firstColumn: 0, columns: dim });
    const values = floats.data.subarray(row * dim, (row + 1) * dim);
    codec.packStep(values, random, table.data.subarray(row * perRow, (row + 1) * perRow));
  }
}

const NORM_EPSILON = 1e-7;

/** A row in double. */
function readRow(table: HostTable<Float32Array>, id: number): number[] {
  return Array.from(table.data.subarray(id * table.dim, (id + 1) * table.dim));
}

/** Each value limited to [clipGradientMin, clipGradientMax]. */
function clipGradient(gradient: readonly number[], hyper: Hyper): number[] {
  return gradient.map((g) => Math.min(Math.max(g, hyper.clipGradientMin), hyper.clipGradientMax));
}

/** The row after decay: w -= f * w. */
function decay(row: number[], fraction: number): void {
  row.forEach((w, c) => (row[c] = w - fraction * w));
}

/** The limits on weights, then the constraint. */
function limitRow(row: number[], hyper: Hyper): void {
  row.forEach((w, c) => (row[c] = Math.min(Math.max(w, hyper.clipWeightMin), hyper.clipWeightMax)));
  if (hyper.constraint === 1) row.forEach((w, c) => (row[c] = Math.max(w, 0)));
  if (hyper.constraint !== 2) return;
  const norm = Math.sqrt(row.reduce((sum, w) => sum + w * w, 0));
  const limited = Math.min(Math.max(norm, hyper.constraintMin), hyper.constraintMax);
  const desired = hyper.constraintRate * limited + (1 - hyper.constraintRate) * norm;
  row.forEach((w, c) => (row[c] = (w * desired) / (NORM_EPSILON + norm)));
}

function stepFloats(
  optimizer: UpdateName,
  table: HostTable<Float32Array>,
  slots: readonly Float32Array[],
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  hyper: Hyper,
): void {
  // Grouping checks the ids, so a bad id leaves everything as it was.
  const groups = clipByNorm(group(gradient, bags, table, options), hyper.clipNorm);
  const touched = new Set<number>();
  for (const { id, gradient: sum } of groups) {
    touched.add(id);
    const row = readRow(table, id);
    decay(row, hyper.weightDecay);
    UPDATES[optimizer].stepRow(row, slots, id, clipGradient(sum, hyper), hyper);
    limitRow(row, hyper);
    table.data.set(row, id * table.dim);
  }
  if (stepsIdleRows(optimizer, hyper)) stepUntouched(optimizer, table, slots, touched, hyper);
}

/** Rows without ids: the optimizer with a zero gradient after their decay, where it moves them; within the limits. */
function stepUntouched(
  optimizer: UpdateName,
  table: HostTable<Float32Array>,
  slots: readonly Float32Array[],
  touched: ReadonlySet<number>,
  hyper: Hyper,
): void {
  const zeros = new Array<number>(table.dim).fill(0);
  for (let id = 0; id < table.rows; id++) {
    if (touched.has(id)) continue;
    const row = readRow(table, id);
    if (UPDATES[optimizer].movesIdleRows === true) {
      decay(row, hyper.idleDecay);
      UPDATES[optimizer].stepRow(row, slots, id, zeros, hyper);
    }
    limitRow(row, hyper);
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
