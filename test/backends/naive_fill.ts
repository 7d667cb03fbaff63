/** Initial values by the book, one at a time. */
import type { Fill } from '../../src/backends/fill.js';

const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24];

/** Threefry-2x32 with 20 rounds, in BigInts. */
export function threefry(key: readonly [bigint, bigint], counter: readonly [bigint, bigint]): [bigint, bigint] {
  const cut = (x: bigint): bigint => BigInt.asUintN(32, x);
  const keys = [...key, key[0] ^ key[1] ^ 0x1bd11bdan];
  let [a, b] = [cut(counter[0] + keys[0]!), cut(counter[1] + keys[1]!)];
  for (let round = 0; round < 20; round++) {
    const by = BigInt(ROTATIONS[round % 8]!);
    a = cut(a + b);
    b = cut((b << by) | (b >> (32n - by))) ^ a;
    if (round % 4 !== 3) continue;
    const injection = (round + 1) / 4;
    a = cut(a + keys[injection % 3]!);
    b = cut(b + keys[(injection + 1) % 3]! + BigInt(injection));
  }
  return [a, b];
}

/** The word of a place, from 0 to 2^32 - 1. */
export function naiveWord(seed: number, row: number, column: number): number {
  const key = BigInt(seed);
  const words = threefry([key & 0xffffffffn, key >> 32n], [BigInt(row), BigInt(column) >> 1n]);
  return Number(words[column % 2]);
}

/** Probability that a normal value lies above x >= 0, by Simpson's rule. */
export function naiveTail(x: number): number {
  const [steps, width] = [2000, 7];
  const density = (at: number): number => Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI);
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * density(x + (width * i) / steps);
  }
  return (sum * width) / steps / 3;
}

/** Above what a normal value lies with this probability of at most a half. */
export function naiveQuantile(probability: number): number {
  let [low, high] = [0, 8];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (naiveTail(middle) > probability) low = middle;
    else high = middle;
  }
  return low;
}

/** A value of a table before it is rounded. */
export function naiveValue(fill: Fill, row: number, column: number): number {
  if (fill.kind === 'constant') return fill.value;
  const word = naiveWord(fill.seed, row, column);
  if (fill.kind === 'uniform') return fill.min + (word / 2 ** 32) * (fill.max - fill.min);
  const positive = word < 2 ** 31;
  // The other half counts down, as two's complement does without its sign.
  const rank = positive ? word : 2 ** 32 - 1 - word;
  const fraction = (rank + 0.5) / 2 ** 31;
  const cut = fill.kind === 'normal' ? 0 : naiveTail(2);
  const distance = naiveQuantile(cut + fraction * (0.5 - cut));
  return fill.mean + (positive ? 1 : -1) * fill.deviation * distance;
}
