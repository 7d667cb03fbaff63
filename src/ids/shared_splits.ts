/** Row splits of rows of one length, kept between steps: a training loop asks for the same few every time. */
import { uniformSplits } from './row_splits.js';

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
