/** The best keys of an open table for each query. */
import * as tf from '@tensorflow/tfjs';
import type { IdLists } from '../backends/ranking.js';
import type { KeysInput } from '../tfjs/models/key_inputs.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import { keyLists } from './open_keys.js';
import { visitRows } from './ranked_table.js';

export interface KeyedTopKOptions {
  /** Keys that are left out, a row for each query; those without a row count for nothing. */
  exclude?: KeysInput | null | undefined;
  /** The only keys that count, a row for each query. */
  only?: KeysInput | null | undefined;
}

export interface KeyedTopK {
  /** Products, the best first; -Infinity where there is no key. */
  values: tf.Tensor2D; // [queries, k]
  /** For each query its keys, the best first: a BigInt64Array, or strings; fewer than k where there are no more. */
  keys: (BigInt64Array | string[])[];
}

/** Rows without a key that are left out of the lists of all queries of one pass. */
const MOST_LEFT_OUT = 2 ** 22;

/** Rows of keys for each query, ascending and each once. */
function listsOf(given: KeysInput | null | undefined, argument: string, queries: number, table: OpenTable) {
  if (given === undefined || given === null) return null;
  const { rows, splits } = keyLists(table, given, argument, queries);
  return Array.from({ length: queries }, (_, q) => {
    return ascending(rows.subarray(splits[q], splits[q + 1]).filter((row) => row >= 0));
  });
}

function ascending(rows: Iterable<number>): Int32Array {
  return Int32Array.from(new Set(rows)).sort();
}

/** Both lists, which have no row in common. */
function merged(long: Int32Array, short: Int32Array): Int32Array {
  const all = new Int32Array(long.length + short.length);
  let [from, at] = [0, 0];
  for (const row of short) {
    while (from < long.length && long[from]! < row) all[at++] = long[from++]!;
    all[at++] = row;
  }
  all.set(long.subarray(from), at);
  return all;
}

/** One list after the other. */
function queryLists(lists: readonly Int32Array[]): IdLists {
  const rowSplits = new Int32Array(lists.length + 1);
  lists.forEach((list, q) => (rowSplits[q + 1] = rowSplits[q]! + list.length));
  const values = new Int32Array(rowSplits[lists.length]!);
  lists.forEach((list, q) => values.set(list, rowSplits[q]));
  return { values, rowSplits };
}

/** `topK` of an open table, whose arguments were checked. */
export function openTopK(
  queries: Float32Array,
  count: number,
  table: OpenTable,
  k: number,
  { exclude, only }: KeyedTopKOptions,
): KeyedTopK {
  const [without, among] = [listsOf(exclude, 'exclude', count, table), listsOf(only, 'only', count, table)];
  const { end, holes } = table.usedRange();
  const values = new Float32Array(count * k).fill(-Infinity);
  const indices = new Int32Array(count * k).fill(-1);
  // Rows that are named have keys; else those without one are left out of each query's.
  const leftOut = among === null ? holes : new Int32Array();
  const pass = Math.max(1, Math.floor(MOST_LEFT_OUT / Math.max(1, leftOut.length)));
  for (let first = 0; first < count; first += pass) {
    const asked = Math.min(pass, count - first);
    const own = Array.from({ length: asked }, (_, q) => {
      const list = without?.[first + q] ?? new Int32Array();
      return merged(leftOut, list);
    });
    const job = {
      queries: queries.subarray(first * table.outputDim, (first + asked) * table.outputDim),
      count: asked,
      k,
      exclude: queryLists(own),
      only: among === null ? null : queryLists(among.slice(first, first + asked)),
      values: values.subarray(first * k, (first + asked) * k),
      indices: indices.subarray(first * k, (first + asked) * k),
    };
    visitRows(table.table!, (block, firstRow, kernels) => {
      const rows = Math.min(block.rows, end - firstRow);
      const data = block.data.subarray(0, rows * block.codec.words(block.dim));
      if (rows > 0) kernels.topK({ ...job, table: { ...block, data, rows }, firstRow });
    });
  }
  const keys = Array.from({ length: count }, (_, q) => {
    return table.keysOf(indices.subarray(q * k, (q + 1) * k).filter((row) => row >= 0));
  });
  return { values: tf.tensor2d(values, [count, k]), keys };
}
