/** Kernels of ranking on typed arrays: the best rows of a table for each query, rows of users from those of items. */
import { INT32_MAX } from '../base/types.js';
import type { Words } from '../codecs/codec.js';
import type { HostBags, HostTable } from './kernel_set.js';
import type { TableForm } from './table.js';

/** A list of ids for each query, ascending and without repetitions: values[rowSplits[q] .. rowSplits[q + 1]). */
export interface IdLists {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array; // [queries + 1]
}

/** Brings rows into lists of the best: whole tables at once, or block after block with ids ascending. */
export interface TopKJob {
  readonly table: HostTable;
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

/** Brings the rows of lists into the lists of the best of those queries that look at them. */
export interface ListScanJob {
  /** Rows of all lists, in any order. */
  readonly table: HostTable;
  readonly ids: Int32Array; // [rows]
  /** Where each list begins and ends in the table. */
  readonly starts: Int32Array; // [lists]
  readonly ends: Int32Array; // [lists]
  /** The queries that look at a list, ascending: members[splits[list] .. splits[list + 1]). */
  readonly members: Int32Array;
  readonly splits: Int32Array; // [lists + 1]
  readonly queries: Float32Array; // [queries, dim]
  readonly count: number;
  readonly k: number;
  readonly exclude: IdLists | null;
  /** Written, as those of `TopKJob`. */
  readonly values: Float32Array; // [queries, k]
  readonly indices: Int32Array; // [queries, k]
}

/** Ranks rows that were found for each query, by their products in double precision: the same order everywhere. */
export interface RankJob {
  readonly table: HostTable;
  /** What rows are called; null: their numbers. */
  readonly ids: Int32Array | null; // [rows]
  readonly queries: Float32Array; // [queries, dim]
  readonly count: number;
  /** Numbers of rows, each once; negative: none. */
  readonly candidates: Int32Array; // [queries, m]
  readonly m: number;
  readonly k: number;
  /** Written, as those of `TopKJob`: all of them. */
  readonly values: Float32Array; // [queries, k]
  readonly indices: Int32Array; // [queries, k]
}

/** Solves (regularization I + gram + sum w v v^T) x = sum w v for each bag; zeros for an empty one. */
export interface FoldInJob {
  readonly table: HostTable;
  readonly bags: HostBags;
  readonly regularization: number;
  readonly gram: Float32Array | null; // [dim, dim]
  /** Written. */
  readonly out: Float32Array; // [batch, dim]
}

/** Kernels of an index, `emb.ann`, which few pages have. */
export interface ListKernels {
  scanLists(job: ListScanJob): void;
  rankRows(job: RankJob): void;
}

export interface RankingKernels {
  topK(job: TopKJob): void;
  foldIn(job: FoldInJob): void;
}

/** Rows of a table where they lie, for reading until the next allocation, and what reads them there. */
export interface RowsInPlace {
  readonly rows: HostTable;
  readonly kernels: RankingKernels | null;
}

/** A table, or a block of its rows, whose words are these. */
export function rowsIn({ codec, dim }: TableForm, numbers: Words): HostTable {
  const rows = numbers.length / (codec.words(dim) || 1);
  const { buffer, byteOffset, length } = numbers;
  const data = codec.isPlain ? numbers : new Int32Array(buffer, byteOffset, length);
  return { codec, data, rows, dim };
}

/** Rows as float32, row-major; those of float32 where they lie. */
export function floatRows({ codec, data, dim }: HostTable, firstRow: number, rows: number): Float32Array {
  const perRow = codec.words(dim);
  return codec.unpack(data.subarray(firstRow * perRow, (firstRow + rows) * perRow), dim);
}

/** About how much work a job is, in ids of a lookup: helpers come where that is enough. */
export function workOf({ count, table }: Pick<TopKJob, 'count' | 'table'>): number {
  return Math.min(INT32_MAX, count * table.rows);
}
