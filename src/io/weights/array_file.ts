/** Arrays in files, by name: what all formats share. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, describe, described } from '../../base/errors.js';
import type { PositionedFile } from '../../base/platform.js';
import { readArray, type ArrayType } from './array_values.js';

/** An array of a file. Nothing of its values is read before `read`. */
export interface StoredArray {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: ArrayType;
  /** A new tensor. Throws ValueError where the values are damaged. */
  read(): Promise<tf.Tensor>;
  /** The same of so many rows from one on, which are there; undefined where they are packed. */
  readonly readRows?: (first: number, count: number) => tf.Tensor;
}

/** The file of some arrays, open until it is closed. */
export interface ArrayFile {
  /** Where they come from, in errors. */
  readonly name: string;
  readonly arrays: ReadonlyMap<string, StoredArray>;
  close(): void;
}

/** Number of values. Throws ValueError for a shape that no array has. */
export function sizeOf(shape: readonly number[], source: { readonly name: string }): number {
  // Nothing is multiplied before it is known to be a number.
  const isShape = shape.every((each) => Number.isSafeInteger(each) && each >= 0);
  const size = isShape ? shape.reduce((product, each) => product * each, 1) : NaN;
  if (Number.isSafeInteger(size * 8)) return size;
  throw new ValueError(
    'source',
    'an array whose size is a whole number',
    described(`${source.name}, of shape ${describe(shape)}`),
  );
}

/** A tensor of values that lie in a file from a position on. */
export function tensorAt(
  file: PositionedFile,
  name: string,
  at: number,
  shape: readonly number[],
  type: ArrayType,
): tf.Tensor {
  const values = readArray(file, name, at, sizeOf(shape, { name }), type);
  return tf.tensor(values, [...shape], type.dtype);
}

/** An array whose values lie in a file as they are. */
export function arrayAt(
  file: PositionedFile,
  name: string,
  array: { readonly name: string; readonly shape: readonly number[]; readonly type: ArrayType; readonly at: number },
): StoredArray {
  const { shape, type, at } = array;
  return {
    ...array,
    read: async () => tensorAt(file, name, at, shape, type),
    readRows(first, count) {
      const rest = shape.slice(1);
      return tensorAt(file, name, at + first * sizeOf(rest, { name }) * type.bytes, [count, ...rest], type);
    },
  };
}
