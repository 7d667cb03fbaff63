/**
 * The keys of stochastic rounding, which goes up or down by chance, so that the expectation is the number.
 *
 * What decides is a random word for each column, which depends on the key, the row and the column alone; the key of a
 * step depends on the seed of the table, its shape and the number of the step. So results are the same whatever steps
 * the rows, in whatever order, and training that goes on from a file goes on with the same bits.
 */
import { derivedKey, randomKey, type RandomKey } from './counter_random.js';

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

/** The key of a step as `packHyper` takes it: 16 bits in each number, which float32 holds exactly. */
export function roundingKey({ seed, step, rows, dim }: RoundedStep): RoundingKey {
  const { low, high } = derivedKey(derivedKey(randomKey(seed), rows, dim), step, 0);
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
