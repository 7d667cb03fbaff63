/** Expectations about numbers and tensors. */
import * as tf from '@tensorflow/tfjs';

/** Runs a function that must leave as many tensors as it found. */
export function expectNoLeak<T>(body: () => T): T {
  const before = tf.memory().numTensors;
  const result = body();
  if (result instanceof Promise)
    throw new Error('expectNoLeak is for functions that return at once: expectNoLeakAsync');
  expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before);
  return result;
}

/** The same for asynchronous functions. */
export async function expectNoLeakAsync<T>(body: () => Promise<T>): Promise<T> {
  const before = tf.memory().numTensors;
  const result = await body();
  expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before);
  return result;
}

type Numbers = ArrayLike<number>;

/** How close implementations must be: |a - b| <= tolerance (1 + magnitude), magnitude being sum |w e|. */
export const AGREEMENT = 1e-6;

/**
 * Fails unless |actual - expected| <= tolerance (1 + magnitude) everywhere; `magnitude` is one number or one per value.
 * NaN and infinities only equal themselves.
 */
export function expectClose(
  actual: Numbers,
  expected: Numbers,
  magnitude: number | Numbers = 0,
  what = '',
  tolerance = AGREEMENT,
): void {
  expect(actual.length).withContext(`${what}: length`).toBe(expected.length);
  for (let i = 0; i < Math.min(actual.length, expected.length); i++) {
    const a = actual[i]!;
    const e = expected[i]!;
    const scale = typeof magnitude === 'number' ? magnitude : magnitude[i]!;
    if (Object.is(a, e) || Math.abs(a - e) <= tolerance * (1 + scale)) continue;
    fail(`${what}: [${i}] is ${a}, expected ${e} within ${tolerance * (1 + scale)}`);
    return;
  }
}

/** Central finite differences of a scalar function of some numbers, in double. */
export function finiteDifferences(f: (x: readonly number[]) => number, at: readonly number[], step = 1e-5): number[] {
  return at.map((value, i) => {
    const shifted = (by: number): number => f(at.map((x, j) => (j === i ? value + by : x)));
    return (shifted(step) - shifted(-step)) / (2 * step);
  });
}
