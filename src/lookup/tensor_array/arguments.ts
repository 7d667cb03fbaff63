/** What callers of a TensorArray give, checked. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { checkWhole } from '../../base/live_tensor.js';

export const DTYPES: readonly tf.DataType[] = ['float32', 'int32', 'bool', 'complex64', 'string'];

/** A position, as a number or an int32 scalar. */
export type IndexInput = number | tf.Scalar;
/** Positions or lengths, as a list or an int32 vector. */
export type IndicesInput = readonly number[] | Int32Array | tf.Tensor1D;

function checkDtype(dtype: unknown, argument: string): tf.DataType {
  const expected = `one of ${DTYPES.join(', ')}`;
  if (typeof dtype !== 'string') throw new ArgumentTypeError(argument, expected, dtype);
  if (!(DTYPES as readonly string[]).includes(dtype)) throw new ValueError(argument, expected, dtype);
  return dtype as tf.DataType;
}

export function readDtype(dtype: unknown, argument = 'dtype'): tf.DataType {
  return dtype === undefined ? 'float32' : checkDtype(dtype, argument);
}

export function readFlag(flag: unknown, fallback: boolean, argument: string): boolean {
  if (flag === undefined) return fallback;
  if (typeof flag !== 'boolean') throw new ArgumentTypeError(argument, 'true or false', flag);
  return flag;
}

/** A whole number, from a number or an int32 scalar. */
export function readWhole(value: unknown, argument: string): number {
  if (value instanceof tf.Tensor) {
    if (value.dtype !== 'int32') throw new ArgumentTypeError(argument, 'a number or an int32 scalar', value);
    if (value.size !== 1 || value.rank > 0) throw new ValueError(argument, 'a scalar', value);
    return value.dataSync()[0]!;
  }
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a number or an int32 scalar', value);
  if (!Number.isInteger(value)) throw new ValueError(argument, 'a whole number', value);
  return value;
}

/** The tensor that the caller gave, or a new one of its numbers, as `isOwn` tells. */
export function readValue(value: unknown, dtype: tf.DataType, argument: string): { tensor: tf.Tensor; isOwn: boolean } {
  if (value instanceof tf.Tensor) {
    checkWhole(value, argument);
    return { tensor: value, isOwn: false };
  }
  if (typeof value === 'number' || Array.isArray(value) || ArrayBuffer.isView(value)) {
    return { tensor: tf.tensor(value as tf.TensorLike, undefined, dtype), isOwn: true };
  }
  throw new ArgumentTypeError(argument, 'a tensor, or numbers', value);
}
