/** Tensors as typed arrays: what the plain kernels of the converter's ops take and give. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { INT32_MAX, INT32_MIN } from '../../base/types.js';

/** Numbers, or the bytes of strings. */
export type HostValues = Int32Array | Float32Array | Uint8Array | Uint8Array[];

export interface HostArray {
  readonly dtype: tf.DataType;
  readonly shape: readonly number[];
  readonly values: HostValues;
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Room for values of a dtype, zeros or empty strings; a ValueError for more than positions of 32 bits reach. */
export function emptyValues(dtype: tf.DataType, length: number): HostValues {
  if (length > INT32_MAX) throw new ValueError('shape', `at most ${INT32_MAX} values in a result`, length);
  if (dtype === 'float32') return new Float32Array(length);
  if (dtype === 'int32') return new Int32Array(length);
  if (dtype === 'bool') return new Uint8Array(length);
  if (dtype === 'string') return Array.from({ length }, () => new Uint8Array(0));
  throw new ArgumentTypeError('dtype', 'float32, int32, bool or string', dtype);
}

/** An array of this shape, to be filled. */
export function hostArray(dtype: tf.DataType, shape: readonly number[], values?: HostValues): HostArray {
  return { dtype, shape, values: values ?? emptyValues(dtype, sizeOf(shape)) };
}

/** int32 numbers in a row; a ValueError names the first that does not fit. */
export function int32Vector(numbers: ArrayLike<number>, what: string): HostArray {
  return int32Array([numbers.length], numbers, what);
}

/** int32 numbers of a shape; a ValueError names the first that does not fit. */
export function int32Array(shape: readonly number[], numbers: ArrayLike<number>, what: string): HostArray {
  const values = new Int32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    if (!(number >= INT32_MIN && number <= INT32_MAX)) {
      throw new ValueError(what, 'whole numbers that fit int32, the only integers of tfjs', number);
    }
    values[i] = number;
  }
  return { dtype: 'int32', shape, values };
}

/** 64-bit numbers as int32; a ValueError names the first that does not fit. */
export function fromInt64(values: BigInt64Array, what: string): Int32Array {
  const narrow = new Int32Array(values.length);
  values.forEach((value, i) => {
    if (value < INT32_MIN || value > INT32_MAX) {
      throw new ValueError(what, 'whole numbers that fit int32, the only integers of tfjs', value);
    }
    narrow[i] = Number(value);
  });
  return narrow;
}

/** What a backend hands out when it is read, as values of a dtype. */
export function readValues(backend: tf.KernelBackend, info: tf.TensorInfo, argument: string): HostValues {
  if (info.dtype === 'complex64') throw new ArgumentTypeError(argument, 'real numbers, bool or strings', info);
  const values = backend.readSync(info.dataId) as unknown;
  if (values instanceof BigInt64Array) return fromInt64(values, argument);
  // A cast to a wider dtype keeps the array of the narrower one.
  if (info.dtype === 'float32' && !(values instanceof Float32Array)) return Float32Array.from(values as Int32Array);
  if (info.dtype === 'int32' && !(values instanceof Int32Array)) return Int32Array.from(values as Uint8Array);
  return values as HostValues;
}

/** Numbers of an argument that holds whole numbers. */
export function integers({ dtype, values }: HostArray, argument: string): Int32Array {
  if (dtype === 'int32') return values as Int32Array;
  throw new ArgumentTypeError(argument, 'int32', described(dtype));
}

/** A whole number, of an int32 scalar or a vector of one. */
export function integer(array: HostArray, argument: string): number {
  const values = integers(array, argument);
  if (values.length !== 1) throw new ValueError(argument, 'a scalar', described(`shape [${array.shape.join(', ')}]`));
  return values[0]!;
}

/** Throws unless an array has this rank. */
export function checkRank({ shape }: HostArray, rank: number, argument: string): void {
  if (shape.length === rank) return;
  throw new ValueError(argument, rank === 1 ? 'a vector' : `rank ${rank}`, described(`shape [${shape.join(', ')}]`));
}

/** Copies `count` values. */
export function copyValues(from: HostValues, start: number, count: number, to: HostValues, at: number): void {
  if (Array.isArray(from)) {
    for (let i = 0; i < count; i++) (to as Uint8Array[])[at + i] = from[start + i]!;
  } else {
    (to as Float32Array).set((from as Float32Array).subarray(start, start + count), at);
  }
}
