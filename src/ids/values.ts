/** Flat values of ragged and sparse ids, read from arrays, typed arrays and tensors. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { toFloat32 } from './float_values.js';
import { checkSize } from './row_splits.js';
import { toInt32 } from './whole_ids.js';

export type ValuesDtype = 'int32' | 'float32';

/** Numbers one after another. */
export type FlatInput = readonly number[] | Int32Array | Float32Array | NumericArray | tf.Tensor;

/** The other typed arrays of numbers. */
export type NumericArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Uint32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** Flat values and the shape of one of them. */
export interface FlatValues {
  readonly values: Int32Array | Float32Array;
  readonly innerShape: readonly number[];
  /** Number of values of `innerShape`. */
  readonly count: number;
}

/** Whether a value is a typed array (and not a DataView). */
export function isTypedArray(value: unknown): value is Int32Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** Content of a tensor of numbers; throws for a disposed one and for other dtypes. */
export function readTensor(tensor: tf.Tensor, argument: string): Int32Array | Float32Array {
  checkTensor(tensor, argument);
  return tensor.dataSync() as Int32Array | Float32Array;
}

/** Throws for a tensor that is disposed or holds another number of values than its shape says, and for a dtype other than int32 and float32. */
export function checkTensor(tensor: tf.Tensor, argument: string): void {
  if (tensor.dtype !== 'int32' && tensor.dtype !== 'float32') {
    throw new ArgumentTypeError(argument, 'an int32 or float32 tensor', tensor);
  }
  checkLive(tensor, argument);
}

/** Whole int32 of a vector of any kind. An Int32Array comes back as it is. */
export function readInt32(vector: unknown, argument: string): Int32Array {
  if (!(vector instanceof tf.Tensor)) return toInt32(vector, argument);
  if (vector.rank !== 1) throw new ValueError(argument, 'a vector (rank 1)', vector);
  return toInt32(readTensor(vector, argument), argument);
}

/** Without a dtype: int32 where all numbers are whole, else float32. */
function toDtype(vector: unknown, argument: string, dtype: ValuesDtype | undefined): Int32Array | Float32Array {
  if (dtype !== undefined && dtype !== 'int32' && dtype !== 'float32') {
    if (typeof dtype !== 'string') throw new ArgumentTypeError('dtype', `'int32' or 'float32'`, dtype);
    throw new ValueError('dtype', `'int32' or 'float32'`, dtype);
  }
  if (dtype === 'int32') return toInt32(vector, argument);
  if (dtype === 'float32') return toFloat32(vector, argument);
  if (vector instanceof Float32Array) return toFloat32(vector, argument);
  const hasFraction =
    (Array.isArray(vector) || vector instanceof Float64Array) &&
    (vector as readonly unknown[]).some(
      (value) => typeof value === 'number' && Number.isFinite(value) && value % 1 !== 0,
    );
  return hasFraction ? toFloat32(vector, argument) : toInt32(vector, argument);
}

function readInnerShape(innerShape: unknown): number[] {
  const expected = 'an array of lengths';
  if (!Array.isArray(innerShape)) throw new ArgumentTypeError('innerShape', expected, innerShape);
  return innerShape.map((length: unknown) => checkSize(length, 'innerShape'));
}

/** Flat values with their inner shape; the array may be the caller's own. */
export function readFlat(
  input: unknown,
  argument: string,
  options: { dtype?: ValuesDtype | undefined; innerShape?: readonly number[] | undefined },
): FlatValues {
  const isTensor = input instanceof tf.Tensor;
  if (isTensor && input.rank === 0) throw new ValueError(argument, 'at least one axis', input);
  const shape = isTensor ? input.shape : null;
  const values = toDtype(isTensor ? readTensor(input, argument) : input, argument, options.dtype);
  const innerShape = readInnerShape(options.innerShape ?? shape?.slice(1) ?? []);
  const size = innerShape.reduce((product, length) => product * length, 1);
  const count = shape !== null ? shape[0]! : size === 0 ? 0 : values.length / size;
  if (!Number.isInteger(count) || count * size !== values.length) {
    throw new ValueError(argument, `values of shape [${innerShape.join(', ')}]`, described(`${values.length} numbers`));
  }
  return { values, innerShape, count };
}
