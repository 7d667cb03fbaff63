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
 * Where two vectors first differ by more than tolerance (1 + magnitude), or -1; `magnitude` is one number or one per
 * value. NaN and infinities only equal themselves.
 */
export function firstDifference(
  actual: Numbers,
  expected: Numbers,
  magnitude: number | Numbers = 0,
  tolerance = AGREEMENT,
): number {
  const length = Math.max(actual.length, expected.length);
  for (let i = 0; i < length; i++) {
    const [a, e] = [actual[i], expected[i]];
    if (a === undefined || e === undefined) return i;
    const scale = typeof magnitude === 'number' ? magnitude : magnitude[i]!;
    if (!Object.is(a, e) && !(Math.abs(a - e) <= tolerance * (1 + scale))) return i;
  }
  return -1;
}

/** Fails where `firstDifference` finds one. */
export function expectClose(
  actual: Numbers,
  expected: Numbers,
  magnitude: number | Numbers = 0,
  what = '',
  tolerance = AGREEMENT,
): void {
  const at = firstDifference(actual, expected, magnitude, tolerance);
  if (at >= 0) fail(`${what}: [${at}] is ${actual[at]}, expected ${expected[at]}`);
  else expect(at).toBe(-1);
}

/** Central finite differences of a scalar function of some numbers, in double. */
export function finiteDifferences(f: (x: readonly number[]) => number, at: readonly number[], step = 1e-5): number[] {
  return at.map((value, i) => {
    const shifted = (by: number): number => f(at.map((x, j) => (j === i ? value + by : x)));
    return (shifted(step) - shifted(-step)) / (2 * step);
  });
}
