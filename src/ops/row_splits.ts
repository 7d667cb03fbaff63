/** Row splits of bags of one size, and checks of splits that come from users. */
import { ValueError, described } from '../errors.js';

const CACHED = 16;
const LONGEST_CACHED = 1 << 20;
const cache = new Map<string, Int32Array>();

/**
 * Returns [0, size, 2 * size, ..., batch * size]. The array is shared between calls and must not be written.
 * A training loop asks for the same few every step, so they are kept.
 */
export function uniformRowSplits(batch: number, size: number): Int32Array {
  const key = `${batch}x${size}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const splits = new Int32Array(batch + 1);
  for (let row = 1; row <= batch; row++) splits[row] = row * size;
  if (batch < LONGEST_CACHED) {
    if (cache.size >= CACHED) cache.delete(cache.keys().next().value!);
    cache.set(key, splits);
  }
  return splits;
}

/** Throws where splits do not start at 0, fall, or end elsewhere than at the number of values. */
export function checkRowSplits(splits: ArrayLike<number>, values: number, argument = 'rowSplits'): void {
  const { length } = splits;
  if (length === 0) throw new ValueError(argument, 'at least one entry (the leading 0)', described('none'));
  if (splits[0] !== 0) throw new ValueError(argument, '0 as the first entry', splits[0]);
  for (let row = 1; row < length; row++) {
    if (splits[row]! < splits[row - 1]!) {
      const received = described(`${splits[row]} after ${splits[row - 1]} at position ${row}`);
      throw new ValueError(argument, 'entries that never fall', received);
    }
  }
  if (splits[length - 1] !== values) {
    throw new ValueError(argument, `the number of values (${values}) as the last entry`, splits[length - 1]);
  }
}
