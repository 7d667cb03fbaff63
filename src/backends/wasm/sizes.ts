/** Sizes that must agree: a kernel goes by addresses, and would read or write beyond an array that is too short. */
import type * as tf from '@tensorflow/tfjs';
import { described, ValueError } from '../../base/errors.js';

/** Throws a ValueError unless an argument has as many values as the others say. */
export function checkLength(argument: string, length: number, expected: number): void {
  if (length !== expected) throw new ValueError(argument, `${expected} values`, described(`${length}`));
}

/** Throws a ValueError unless there is a first split. */
export function checkSplits(length: number): void {
  if (length < 1) throw new ValueError('rowSplits', 'at least one split', described('none'));
}

/** Throws a ValueError unless a tensor has this dtype and shape; -1 stands for any length. */
export function checkTensor(
  argument: string,
  info: tf.TensorInfo,
  dtype: tf.DataType,
  ...shape: readonly number[]
): void {
  const fits = info.shape.length === shape.length && shape.every((n, axis) => n === -1 || n === info.shape[axis]);
  if (fits && info.dtype === dtype) return;
  const expected = `a ${dtype} tensor of shape [${shape.map((n) => (n === -1 ? 'any' : n)).join(', ')}]`;
  throw new ValueError(argument, expected, described(`a ${info.dtype} tensor of shape [${info.shape.join(', ')}]`));
}
