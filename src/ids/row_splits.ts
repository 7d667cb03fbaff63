/** Row splits: row b holds values[splits[b] .. splits[b + 1]). */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { INT32_MAX } from '../base/types.js';
import { checkNotLost } from './lost_arrays.js';

const CACHED = 16;
const LONGEST_CACHED = 1 << 20;
const cache = new Map<string, Int32Array>();
/** The length of the rows, of arrays made here. */
const lengths = new WeakMap<Int32Array, number>();

/** Returns [0, length, 2 * length, ..., rows * length]. The array is shared between calls and must not be written. */
export function sharedUniformSplits(rows: number, length: number): Int32Array {
  const key = `${rows}x${length}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const splits = uniformSplits(rows, length);
  lengths.set(splits, length);
  if (rows >= LONGEST_CACHED) return splits;
  if (cache.size >= CACHED) cache.delete(cache.keys().next().value!);
  cache.set(key, splits);
  return splits;
}

/** The length that all rows have, or null where lengths differ; 0 where there are no rows. */
export function uniformLength(splits: Int32Array): number | null {
  const known = lengths.get(splits);
  if (known !== undefined) return known;
  const rows = splits.length - 1;
  if (rows === 0) return 0;
  const length = splits[1]!;
  for (let row = 1; row <= rows; row++) if (splits[row] !== row * length) return null;
  return length;
}

/** Throws where splits do not start at 0, fall, or end elsewhere than at the number of values. */
export function checkRowSplits(splits: ArrayLike<number>, values: number, argument = 'rowSplits'): void {
  const { length } = splits;
  if (ArrayBuffer.isView(splits)) checkNotLost(splits, argument);
  if (length === 0) throw new ValueError(argument, 'at least one entry (the leading 0)', described('none'));
  if (splits[0] !== 0) throw new ValueError(argument, '0 as the first entry', splits[0]);
  for (let row = 1; row < length; row++) {
    if (splits[row]! < splits[row - 1]!) {
      const received = `${splits[row]} after ${splits[row - 1]} at position ${row}`;
      const message = `\`${argument}\` must be non-decreasing: ${received}.`;
      throw new ValueError(argument, 'non-decreasing entries', described(received, message));
    }
  }
  if (splits[length - 1] !== values) {
    throw new ValueError(argument, `the number of values (${values}) as the last entry`, splits[length - 1]);
  }
}

/** Splits of rows of the given lengths. */
export function splitsOfLengths(lengths: ArrayLike<number>, argument = 'lengths'): Int32Array {
  const splits = new Int32Array(lengths.length + 1);
  let end = 0;
  for (let row = 0; row < lengths.length; row++) {
    const length = lengths[row]!;
    if (length < 0) throw new ValueError(argument, 'lengths >= 0', described(`${length} at position ${row}`));
    end += length;
    if (end > INT32_MAX) throw new ValueError(argument, 'at most 2^31 - 1 values in all', described(`${end} and more`));
    splits[row + 1] = end;
  }
  return splits;
}

/** Lengths of the rows. */
export function lengthsOfSplits(splits: Int32Array): Int32Array {
  return Int32Array.from({ length: splits.length - 1 }, (_, row) => splits[row + 1]! - splits[row]!);
}

/** The length of the longest row; 0 where there is none. */
export function longestRow(splits: Int32Array): number {
  let longest = 0;
  for (let row = 0; row + 1 < splits.length; row++) longest = Math.max(longest, splits[row + 1]! - splits[row]!);
  return longest;
}

/** Splits of `rows` rows of one length: [0, length, 2 length, ...]. */
export function uniformSplits(rows: number, length: number): Int32Array {
  if (rows * length > INT32_MAX) {
    throw new ValueError('ids', 'at most 2^31 - 1 values', described(`${rows} rows of ${length}`));
  }
  const splits = new Int32Array(rows + 1);
  for (let row = 1; row <= rows; row++) splits[row] = row * length;
  return splits;
}

/** Whether two arrays hold the same numbers. */
export function sameNumbers(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A whole number >= 0, or an error that names the argument. */
export function checkSize(value: unknown, argument: string): number {
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a whole number >= 0', value);
  if (!Number.isInteger(value) || value < 0 || value > INT32_MAX) {
    throw new ValueError(argument, 'a whole number >= 0', value);
  }
  return value;
}

/**
 * Ragged ids spread over [rows, length], by default that of the longest row: which place holds an id, as the splits of
 * one bag per place.
 */
export function placeSplits(
  rowSplits: Int32Array,
  length: number | null,
): { splits: Int32Array; rows: number; columns: number } {
  const rows = rowSplits.length - 1;
  const columns = length ?? longestRow(rowSplits);
  const splits = new Int32Array(rows * columns + 1);
  for (let row = 0, place = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, place++) {
      splits[place + 1] = Math.min(rowSplits[row]! + column + 1, rowSplits[row + 1]!);
    }
  }
  return { splits, rows, columns };
}

/** The row that holds an entry. */
export function rowOf(splits: Int32Array, entry: number): number {
  let [low, high] = [0, splits.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (splits[middle]! <= entry) low = middle;
    else high = middle;
  }
  return low;
}
