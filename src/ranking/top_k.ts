/** The best rows of a table for each query, by exact inner products. */
import * as tf from '@tensorflow/tfjs';
import { newFloats } from '../backends/kernel_set.js';
import type { IdLists } from '../backends/ranking.js';
import type { Table } from '../backends/table.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { INT32_MAX } from '../base/types.js';
import { readOptions } from '../base/options.js';
import type { RaggedTensor } from '../ids/ragged_tensor.js';
import { checkMatrix } from '../lookup/arguments.js';
import { hasBrand } from '../base/per_process.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import { isOpenTable } from '../tables/keys/is_open_table.js';
import type { AnnIndex, AnnSearchOptions } from './ann/ann_index.js';
import { idLists, MOST_PLACES, type TopK } from './id_lists.js';
import { openTopK, type KeyedTopK, type KeyedTopKOptions } from './open_top_k.js';
import { readRankedTable, visitRows, type RankedTable } from './ranked_table.js';

export interface RerankArgs {
  /** The exact rows, of the same shape as the table that is scanned. */
  table: RankedTable;
  /** How many rows of each query the scan finds; at least `k`. Default: 4 k. */
  candidates?: number | undefined;
}

export interface TopKOptions {
  /** Ids that are left out, a row for each query. */
  exclude?: RaggedTensor | null | undefined;
  /** The only ids that count, a row for each query; repetitions count once. */
  only?: RaggedTensor | null | undefined;
  /** Finds candidates in `table`, then ranks them by their products with these rows. */
  rerank?: RerankArgs | null | undefined;
}

/**
 * Returns for each query the `k` rows of a table with the largest inner products. The search is exact: every row is
 * looked at, in blocks, so that no matrix of all products ever lies in memory. Rows with the same product are in the
 * order of their ids. A product that is NaN or -Infinity is never among them. Products are summed up in float32.
 *
 * Tables of int8 and float16 (`emb.quantize`, `storage`) are scanned as they are, for the products with the numbers that
 * their rows stand for; `rerank` finds `candidates` in them and ranks these by the rows that they were made from.
 *
 * On `cpu` and `wasm` tables are read where they lie. Backends with a memory of their own hand them over in blocks of 4
 * MB. Nothing is on the tape.
 *
 * Of an open table (`emb.openTable`) the keys that have rows are searched: `{values, keys}`, and what `exclude` and `only` list
 * are keys, in rows, too. Strings need a table with `keepTexts`.
 *
 * @param queries - float32 [queries, dim].
 * @param table - A tensor or variable [rows, dim], a layer that holds one table, or its weight; an open table; or an
 * index of `emb.ann`, which is searched approximately, with the options of its `search`.
 * @param k - How many rows, at least 1; more than there are gives places without a row. At most 2^30 places in all.
 * @param options - What is left out, what alone counts, and the rows to rank by in the end.
 * @returns `{values, indices}`, both [queries, k], float32 and int32; the caller disposes them.
 * @throws TypeError for arguments of another type or dtype; ValueError for shapes that do not belong together, for `k`
 * below 1, and for ids that the table does not have.
 *
 * @example
 * const { values, indices } = emb.topK(users, items, 20, { exclude: emb.RaggedTensor.fromRows([[3, 1], []]) });
 */
export function topK(queries: tf.Tensor2D, table: OpenTable, k: number, options?: KeyedTopKOptions): KeyedTopK;
export function topK(queries: tf.Tensor2D, index: AnnIndex, k: number, options?: AnnSearchOptions): TopK;
export function topK(queries: tf.Tensor2D, table: RankedTable, k: number, options?: TopKOptions): TopK;
export function topK(
  queries: tf.Tensor2D,
  table: RankedTable | AnnIndex,
  k: number,
  options: TopKOptions | KeyedTopKOptions | AnnSearchOptions = {},
): TopK | KeyedTopK {
  // The class itself would bring its code into every bundle that ranks.
  if (hasBrand(table, 'AnnIndex')) return (table as AnnIndex).search(queries, k, options as AnnSearchOptions);
  return isOpenTable(table)
    ? topKeys(queries, table, k, options as KeyedTopKOptions)
    : topRows(queries, table as RankedTable, k, options as TopKOptions);
}

function readQueries(queries: tf.Tensor2D, dim: number, k: number): { count: number; places: number } {
  const places = readCount(k, 'k', 1);
  const count = checkMatrix(queries, (queries as tf.Tensor | undefined)?.shape?.[0] ?? 0, dim, 'queries').shape[0];
  if (count * places <= MOST_PLACES) return { count, places };
  const most = `at most ${Math.floor(MOST_PLACES / count)} for ${count} queries, as all fit in 4 GiB`;
  throw new ValueError('k', most, k);
}

function topKeys(queries: tf.Tensor2D, table: OpenTable, k: number, options: KeyedTopKOptions): KeyedTopK {
  const given = readOptions<KeyedTopKOptions>(options, ['exclude', 'only']);
  readRankedTable(table);
  const { count, places } = readQueries(queries, table.outputDim, k);
  return openTopK(queries.dataSync() as Float32Array, count, table, places, given);
}

function topRows(queries: tf.Tensor2D, table: RankedTable, k: number, options: TopKOptions): TopK {
  const { exclude, only, rerank } = readOptions<TopKOptions>(options, ['exclude', 'only', 'rerank']);
  const scanned = readRankedTable(table);
  const { rows, dim } = scanned;
  const { count, places } = readQueries(queries, dim, k);
  const lists = {
    exclude: idLists(exclude, 'exclude', count, rows),
    only: idLists(only, 'only', count, rows),
  };
  const exact = (rerank ?? null) === null ? null : readRerank(rerank, places, rows, dim);
  const numbers = queries.dataSync() as Float32Array;
  // There are no more than all rows.
  const [there, candidates] = [Math.min(places, rows), Math.min(exact?.candidates ?? places, rows)];
  let found = scan(scanned, numbers, count, candidates, lists);
  if (exact !== null) {
    const ofCandidates = { exclude: null, only: candidatesOf(found, count) };
    found = scan(exact.table, numbers, count, there, ofCandidates);
  }
  const all = withPlaces(found, count, places);
  return {
    values: tf.tensor2d(all.values, [count, places]),
    indices: tf.tensor2d(all.indices, [count, places], 'int32'),
  };
}

/** The lists with `places` places each, the further ones without a row. */
function withPlaces(found: Found, count: number, places: number): Found {
  const { k, values, indices } = found;
  if (k === places) return found;
  const all = emptyPlaces(count, places);
  for (let q = 0; q < count; q++) {
    all.values.set(values.subarray(q * k, (q + 1) * k), q * places);
    all.indices.set(indices.subarray(q * k, (q + 1) * k), q * places);
  }
  return all;
}

function emptyPlaces(count: number, k: number): Found {
  const values = newFloats('k', 'the best rows', [count, k]).fill(-Infinity);
  return { k, values, indices: new Int32Array(values.length).fill(-1) };
}

/** Lists of `k` places each. */
interface Found {
  readonly k: number;
  readonly values: Float32Array;
  readonly indices: Int32Array;
}

interface Lists {
  readonly exclude: IdLists | null;
  readonly only: IdLists | null;
}

function scan(table: Table, queries: Float32Array, count: number, k: number, lists: Lists): Found {
  const found = emptyPlaces(count, k);
  const { values, indices } = found;
  if (count > 0 && k > 0) {
    visitRows(table, (rows, firstRow, kernels) => {
      kernels.topK({ table: rows, firstRow, queries, count, k, ...lists, values, indices });
    });
  }
  return found;
}

/** What was found, as ids alone. */
function candidatesOf({ k, indices }: Found, count: number): IdLists {
  const values = new Int32Array(indices.length);
  const rowSplits = new Int32Array(count + 1);
  for (let q = 0; q < count; q++) {
    const found = indices.subarray(q * k, (q + 1) * k).filter((id) => id >= 0);
    values.set(found.sort(), rowSplits[q]);
    rowSplits[q + 1] = rowSplits[q]! + found.length;
  }
  return { values: values.slice(0, rowSplits[count]), rowSplits };
}

function readRerank(value: unknown, k: number, rows: number, dim: number): { table: Table; candidates: number } {
  const read = readOptions<RerankArgs>(value, ['table', 'candidates'], 'rerank');
  const table = readRankedTable(read.table, 'rerank.table');
  if (table.rows !== rows || table.dim !== dim) {
    const received = described(`[${table.shape.join(', ')}]`);
    throw new ValueError('rerank.table', `a table of shape [${rows}, ${dim}]`, received);
  }
  const candidates = read.candidates ?? Math.min(4 * k, INT32_MAX);
  return { table, candidates: readCount(candidates, 'rerank.candidates', k) };
}

function readCount(value: unknown, argument: string, least: number): number {
  const expected = `a whole number of at least ${least}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isInteger(value) || value < least || value > INT32_MAX) throw new ValueError(argument, expected, value);
  return value;
}
