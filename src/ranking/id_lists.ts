/** A list for each query: ids that are left out or count alone, and the rows that were found. */
import type * as tf from '@tensorflow/tfjs';
import type { IdLists } from '../backends/ranking.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { strayPosition } from '../ids/id_out_of_range.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';

/** Places of a result: 4 GiB of products, and as much of ids. */
export const MOST_PLACES = 2 ** 30;

export interface TopK {
  /** Products, the best first; -Infinity where there is no row. */
  values: tf.Tensor2D; // [queries, k]
  /** Ids of rows; -1 where there is no row. */
  indices: tf.Tensor2D; // [queries, k], int32
}

/** Ids of each query below `rows`, ascending and without repetitions; null where none are given. */
export function idLists(value: unknown, argument: string, count: number, rows: number): IdLists | null {
  if (value === undefined || value === null) return null;
  const expected = 'a RaggedTensor of int32 ids with a row for each query';
  const isLists = value instanceof RaggedTensor && value.dtype === 'int32';
  if (!isLists) throw new ArgumentTypeError(argument, expected, value);
  if (value.rank !== 2 || value.raggedRank !== 1 || value.shape[0] !== count) {
    const received = described(`a RaggedTensor of shape [${value.shape.join(', ')}]`);
    throw new ValueError(argument, `${expected}, [${count}, null]`, received);
  }
  const { values, rowSplits } = value as { values: Int32Array; rowSplits: Int32Array };
  const bad = strayPosition(values, rows);
  if (bad >= 0) {
    throw new ValueError(argument, `ids from 0 to ${rows - 1}`, described(`${values[bad]} at position ${bad}`));
  }
  return areAscending(values, rowSplits) ? { values, rowSplits } : sortedLists(values, rowSplits);
}

function areAscending(values: Int32Array, rowSplits: Int32Array): boolean {
  for (let q = 0; q + 1 < rowSplits.length; q++) {
    for (let i = rowSplits[q]! + 1; i < rowSplits[q + 1]!; i++) if (values[i]! <= values[i - 1]!) return false;
  }
  return true;
}

function sortedLists(values: Int32Array, rowSplits: Int32Array): IdLists {
  const sorted = values.slice();
  const splits = new Int32Array(rowSplits.length);
  for (let q = 0; q + 1 < rowSplits.length; q++) {
    let end = splits[q]!;
    for (const id of values.slice(rowSplits[q], rowSplits[q + 1]).sort()) {
      if (end === splits[q]! || sorted[end - 1] !== id) sorted[end++] = id;
    }
    splits[q + 1] = end;
  }
  return { values: sorted.subarray(0, splits.at(-1)), rowSplits: splits };
}

/** The lists of queries first .. end - 1. */
export function listsOfQueries(lists: IdLists | null, first: number, end: number): IdLists | null {
  if (lists === null) return null;
  const splits = lists.rowSplits.slice(first, end + 1);
  const [from] = splits;
  return {
    values: lists.values.subarray(from, splits.at(-1)),
    rowSplits: splits.map((split) => split - from!),
  };
}
