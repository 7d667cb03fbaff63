/**
 * Stochastic rounding of float32 to float16: up or down by chance, so that the expectation is the number.
 *
 * What decides is a random word for each column, which depends on the key, the row and the column alone; the key of a
 * step depends on the seed of the table, its shape and the number of the step. So results are the same whatever steps
 * the rows, in whatever order, and training that goes on from a file goes on with the same bits.
 */
import { randomKey, randomWords, type RandomKey } from '../counter_random.js';
import { LARGEST_HALF, halfValue } from './half.js';

/** The numbers of `Hyper` that hold a key. */
export interface RoundingKey {
  readonly roundingKey0: number;
  readonly roundingKey1: number;
  readonly roundingKey2: number;
  readonly roundingKey3: number;
}

/** What decides over the key of a step. */
export interface RoundedStep {
  /** A whole number from 0 to 2^53 - 1. */
  readonly seed: number;
  /** From 1. */
  readonly step: number;
  readonly rows: number;
  readonly dim: number;
}

/** Another key, of a key and two numbers. */
function derived(key: RandomKey, row: number, pair: number): RandomKey {
  const words = new Int32Array(2);
  randomWords(words, key, { firstRow: row, rowStep: 1, rows: 1, firstColumn: 2 * pair, columns: 2 });
  return { low: words[0]!, high: words[1]! };
}

/** The key of a step as `packHyper` takes it: 16 bits in each number, which float32 holds exactly. */
export function roundingKey({ seed, step, rows, dim }: RoundedStep): RoundingKey {
  const { low, high } = derived(derived(randomKey(seed), rows, dim), step, 0);
  return {
    roundingKey0: low & 0xffff,
    roundingKey1: low >>> 16,
    roundingKey2: high & 0xffff,
    roundingKey3: high >>> 16,
  };
}

/** The key of these fields. */
export function keyOf({ roundingKey0, roundingKey1, roundingKey2, roundingKey3 }: RoundingKey): RandomKey {
  return { low: roundingKey0 | (roundingKey1 << 16), high: roundingKey2 | (roundingKey3 << 16) };
}

/** Bits of a random word that decide for halves of 2^-14 and more, and for smaller ones. */
const BITS = 13;
const BITS_OF_SMALL = 21;

/** The half below a number from 0 to 65504, towards 0. */
function halfBelow(size: number): number {
  if (size < 2 ** -14) return Math.floor(size * 2 ** 24);
  let power = Math.floor(Math.log2(size));
  // The logarithm may be off by one next to a power of two.
  if (2 ** power > size) power--;
  else if (2 ** (power + 1) <= size) power++;
  return ((power + 14) << 10) + Math.floor(size / 2 ** (power - 10));
}

/**
 * A float32 as 16 bits of a half: the one below it, towards 0, or the next, where the share of the way to it is above
 * `random` / 2^32. Of that share 13 bits are looked at, which is all that float32 has, or 21 below 2^-14, down to 2^-45.
 * Finite numbers beyond 65504 become 65504, as in FBGEMM; infinity stays, and so does NaN.
 */
export function stochasticHalf(value: number, random: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === Infinity) return sign | 0x7c00;
  if (size >= LARGEST_HALF) return sign | 0x7bff;
  const below = halfBelow(size);
  const bits = size < 2 ** -14 ? BITS_OF_SMALL : BITS;
  const share = Math.floor(((size - halfValue(below)) / (halfValue(below + 1) - halfValue(below))) * 2 ** bits);
  const chance = (random >>> 0) >>> (32 - bits);
  return sign | (below + (share + chance >= 2 ** bits ? 1 : 0));
}
