/** Row splits of bags of one size, kept between steps. */
import { uniformSplits } from '../ragged/row_splits.js';

const CACHED = 16;
const LONGEST_CACHED = 1 << 20;
const cache = new Map<string, Int32Array>();

/**
 * Returns [0, size, 2 * size, ..., batch * size]. The array is shared between calls and must not be written.
 * A training loop asks for the same few every step, so they are kept.
 */
export function uniformRowSplits(batch: number, size: number): Int32Array {
  if (batch >= LONGEST_CACHED) return uniformSplits(batch, size);
  const key = `${batch}x${size}`;
  let splits = cache.get(key);
  if (splits === undefined) {
    splits = uniformSplits(batch, size);
    if (cache.size >= CACHED) cache.delete(cache.keys().next().value!);
    cache.set(key, splits);
  }
  return splits;
}
