/** The seed of a table. */
import { ArgumentTypeError, ValueError } from '../base/errors.js';

/** A seed, or null where none is given. */
export function checkSeed(seed: unknown): number | null {
  if (seed === undefined || seed === null) return null;
  if (typeof seed !== 'number') throw new ArgumentTypeError('seed', 'a whole number', seed);
  if (!Number.isInteger(seed)) throw new ValueError('seed', 'a whole number', seed);
  return seed;
}

/** The same as a whole number from 0 to 2^53 - 1. */
export function roundingSeed(seed: number): number {
  const most = 2 ** 53;
  const rest = seed % most;
  return rest < 0 ? rest + most : rest;
}
