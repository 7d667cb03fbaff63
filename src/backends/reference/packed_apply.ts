/** Reference for steps of float16 rows: the touched rows are unpacked, stepped as float32, and rounded stochastically. */
import { stepsIdleRows, type OptimizerName } from '../../rules/rules.js';
import { randomWords } from '../counter_random.js';
import { unpackHyper, type Hyper } from '../../rules/hyper.js';
import type { BagOptions, HostBags } from '../kernel_set.js';
import { unpackRows } from '../packed/rows.js';
import { keyOf, stochasticHalf } from '../packed/rounding.js';
import { wordsPerRow, type PackedTable } from '../packed/packed_table.js';
import { inRange } from './bags.js';
import { sparseApply } from './sparse_apply.js';

/** The rows that the step writes: those of the ids, or all. */
function steppedRows(optimizer: OptimizerName, { rows }: PackedTable, { values }: HostBags, hyper: Hyper): Set<number> {
  const all = stepsIdleRows(optimizer, hyper);
  return new Set(all ? Array.from({ length: rows }, (_, row) => row) : values.filter((id) => inRange(id, rows)));
}

/** Rounds a row of float32 into its words; `random` has a word for each column. */
function roundRow(values: Float32Array, random: Int32Array, words: Int32Array): void {
  words.fill(0);
  values.forEach((value, c) => {
    words[c >> 1]! |= stochasticHalf(value, random[c]!) << (16 * (c & 1));
  });
}

export function packedApply(
  optimizer: OptimizerName,
  table: PackedTable,
  slots: readonly Float32Array[],
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  packed: Float32Array,
): void {
  const { words, storage, rows, dim } = table;
  const hyper = unpackHyper(packed);
  const data = unpackRows(words, storage, dim);
  sparseApply(optimizer, { data, rows, dim }, slots, gradient, bags, options, packed);
  const perRow = wordsPerRow(storage, dim);
  const random = new Int32Array(2 * dim + 2);
  for (const row of steppedRows(optimizer, table, bags, hyper)) {
    randomWords(random, keyOf(hyper), { firstRow: row, rowStep: 1, rows: 1, firstColumn: 0, columns: dim });
    roundRow(data.subarray(row * dim, (row + 1) * dim), random, words.subarray(row * perRow, (row + 1) * perRow));
  }
}
