/** Kernels of ranking on typed arrays: the best rows of a table for each query, rows of users from those of items. */
import type * as tf from '@tensorflow/tfjs';
import { INT32_MAX } from '../base/types.js';
import { packedForm, type HostBags, type HostTable, type PackedTable } from './kernel_set.js';

/** A list of ids for each query, ascending and without repetitions: values[rowSplits[q] .. rowSplits[q + 1]). */
export interface IdLists {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array; // [queries + 1]
}

/** Brings rows into lists of the best: whole tables at once, or block after block with ids ascending. */
export interface TopKJob {
  readonly table: HostTable | PackedTable;
  /** The id of the first row. */
  readonly firstRow: number;
  readonly queries: Float32Array; // [queries, dim]
  readonly count: number;
  readonly k: number;
  readonly exclude: IdLists | null;
  readonly only: IdLists | null;
  /** Written: the best first; -Infinity where there is none. */
  readonly values: Float32Array; // [queries, k]
  /** Written: -1 where there is none. */
  readonly indices: Int32Array; // [queries, k]
}

/** Solves (regularization I + gram + sum w v v^T) x = sum w v for each bag; zeros for an empty one. */
export interface FoldInJob {
  readonly table: HostTable | PackedTable;
  readonly bags: HostBags;
  readonly regularization: number;
  readonly gram: Float32Array | null; // [dim, dim]
  /** Written. */
  readonly out: Float32Array; // [batch, dim]
}

export interface RankingKernels {
  topK(job: TopKJob): void;
  foldIn(job: FoldInJob): void;
}

/** Rows of a table where they lie, for reading until the next allocation, and what reads them there. */
export interface RowsInPlace {
  readonly rows: HostTable | PackedTable;
  readonly kernels: RankingKernels | null;
}

/** A table, or a block of its rows, whose numbers are these. */
export function rowsIn(table: tf.Tensor, numbers: Float32Array | Int32Array): HostTable | PackedTable {
  const form = packedForm(table);
  const rows = numbers.length / (table.shape[1]! || 1);
  if (form === undefined) return { data: numbers as Float32Array, rows, dim: table.shape[1]! };
  const { buffer, byteOffset, length } = numbers;
  return { words: new Int32Array(buffer, byteOffset, length), rows, ...form };
}

/** About how much work a job is, in ids of a lookup: helpers come where that is enough. */
export function workOf({ count, table }: Pick<TopKJob, 'count' | 'table'>): number {
  return Math.min(INT32_MAX, count * table.rows);
}
