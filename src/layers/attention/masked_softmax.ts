/** Weights of attention: the softmax of scores, where some do not count. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';

/** Scores that do not count become this, or are less by it. */
export const FAR_BELOW = -1e9;

/** bool [queries, keys]: a query sees the keys that are not behind it. */
export function causalMask(queries: number, keys: number): tf.Tensor {
  const [rows, columns] = [tf.range(0, queries, 1, 'int32'), tf.range(0, keys, 1, 'int32')];
  return rows.reshape([queries, 1]).greaterEqual(columns.reshape([1, keys]));
}

/** bool [queries, keys]: a query sees the keys that are fewer places away than this. */
export function windowMask(queries: number, keys: number, size: number): tf.Tensor {
  const [rows, columns] = [tf.range(0, queries, 1, 'int32'), tf.range(0, keys, 1, 'int32')];
  return rows
    .reshape([queries, 1])
    .sub(columns.reshape([1, keys]))
    .abs()
    .less(tf.scalar(size, 'int32'));
}

/** Masks that broadcast, as one; null where there is none. No gradient goes through it. */
export function joinedMask(masks: () => (tf.Tensor | null)[]): tf.Tensor | null {
  return withoutTape(() => {
    const given = masks().filter((mask): mask is tf.Tensor => mask !== null);
    return given
      .map((mask) => mask.cast('bool'))
      .reduce<tf.Tensor | null>((all, mask) => (all === null ? mask : tf.logicalAnd(all, mask)), null);
  });
}

/** The masks of a call, one for each input; null where an input has none. */
export function masksOf(mask: unknown, count: number): (tf.Tensor | null)[] {
  const given = [mask ?? null].flat() as (tf.Tensor | null)[];
  return Array.from({ length: count }, (_, i) => given[i] ?? null);
}

/** A rate of dropout. */
export function checkRate(value: unknown, argument: string): number {
  if (value === undefined || value === null) return 0;
  const expected = 'a number in [0, 1)';
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!(value >= 0 && value < 1)) throw new ValueError(argument, expected, value);
  return value;
}
