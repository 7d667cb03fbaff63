/** Checks of the plain numbers that SparseCore functions take. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';

/** A whole number from `least` to `most`. */
export function wholeNumber(value: unknown, argument: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  const expected =
    most === Number.MAX_SAFE_INTEGER ? `a whole number >= ${least}` : `a whole number from ${least} to ${most}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isInteger(value) || value < least || value > most) throw new ValueError(argument, expected, value);
  return value;
}

export function textOf(value: unknown, argument: string): string {
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, 'a string', value);
  if (value === '') throw new ValueError(argument, 'a string that is not empty', value);
  return value;
}

/** For whole numbers from 1 to 2^53. */
export function isPowerOfTwo(value: number): boolean {
  return 2 ** Math.round(Math.log2(value)) === value;
}

const MOST_SHARDS = 2 ** 20;

/** Shards of all chips, whose number `argument` sets. SparseCores find the shard of a row by its low bits, so there must be a power of two. */
export function shardCount(chips: number, coresPerChip: number, argument: string): number {
  const shards = chips * coresPerChip;
  if (isPowerOfTwo(shards) && shards <= MOST_SHARDS) return shards;
  const received = described(`${shards}, ${chips} x ${coresPerChip}`);
  throw new ValueError(argument, `SparseCores in all that are a power of two, at most ${MOST_SHARDS}`, received);
}

export function product(shape: readonly number[]): number {
  return shape.reduce((size, length) => size * length, 1);
}
