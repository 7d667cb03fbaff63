/** Packed rows for the reference: those of a batch are unpacked, and looked up as float32. */
import type { BagOptions, HostBags, HostTable } from '../kernel_set.js';
import { newFloats } from '../memory.js';
import { unpackRow } from '../packed/rows.js';
import { wordsPerRow, type PackedTable } from '../packed/packed_table.js';
import { checkIds, inRange } from './bags.js';

const OUTSIDE = -1;

/** A table with one row per id of the batch, and ids that are their places; those outside the table stay outside. */
export function unpacked(
  { words, storage, rows, dim }: PackedTable,
  bags: HostBags,
  options: BagOptions,
): [table: HostTable, bags: HostBags, options: BagOptions] {
  checkIds(bags, rows, options);
  const { values } = bags;
  const data = newFloats('values', 'looked-up rows', [values.length, dim]);
  const perRow = wordsPerRow(storage, dim);
  const places = values.map((id, i) => {
    if (!inRange(id, rows)) return OUTSIDE;
    unpackRow(words, id * perRow, storage, dim, data, i * dim);
    return i;
  });
  return [
    { data, rows: values.length, dim },
    { ...bags, values: places },
    { ...options, outOfRange: 'zero' },
  ];
}
