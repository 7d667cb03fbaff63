/** Reference for lookups of packed rows: the rows of the batch are unpacked, and looked up as float32. */
import type { BagOptions, HostBags, HostTable } from '../kernel_set.js';
import { newFloats } from '../memory.js';
import { unpackRow } from '../packed/rows.js';
import { wordsPerRow, type PackedTable } from '../packed/packed_table.js';
import { checkIds, inRange } from './bags.js';
import { embeddingBag } from './embedding_bag.js';
import { embeddingBagWeightsGrad } from './embedding_bag_weights_grad.js';

const OUTSIDE = -1;

/** A table with one row per id of the batch, and ids that are their places; those outside the table stay outside. */
function unpacked(
  { words, storage, rows, dim }: PackedTable,
  bags: HostBags,
  options: BagOptions,
): { table: HostTable; bags: HostBags; options: BagOptions } {
  checkIds(bags, rows, options);
  const { values } = bags;
  const data = newFloats('values', 'looked-up rows', [values.length, dim]);
  const perRow = wordsPerRow(storage, dim);
  const places = values.map((id, i) => {
    if (!inRange(id, rows)) return OUTSIDE;
    unpackRow(words, id * perRow, storage, dim, data, i * dim);
    return i;
  });
  return {
    table: { data, rows: values.length, dim },
    bags: { ...bags, values: places },
    options: { ...options, outOfRange: 'zero' },
  };
}

/** Writes pooled [batch * dim]. */
export function packedBag(table: PackedTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
  const plain = unpacked(table, bags, options);
  embeddingBag(plain.table, plain.bags, plain.options, pooled);
}

/** Writes out [nnz]. */
export function packedBagWeightsGrad(
  table: PackedTable,
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  out: Float32Array,
): void {
  const plain = unpacked(table, bags, options);
  embeddingBagWeightsGrad(plain.table, gradient, plain.bags, plain.options, out);
}
