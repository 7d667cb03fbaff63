/** Element types of TensorFlow, by their numbers in its messages. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';

export const DataType = {
  float32: 1,
  float64: 2,
  int32: 3,
  uint8: 4,
  string: 7,
  int64: 9,
  bool: 10,
  resource: 20,
  variant: 21,
  uint64: 23,
} as const;

export type DataTypeName = keyof typeof DataType;

/** Bytes of one element of the types that variables may have. */
export const ELEMENT_BYTES = { float32: 4, int32: 4, bool: 1 } as const;

export type VariableType = keyof typeof ELEMENT_BYTES;

/** The type of a tensor of tfjs. Throws ValueError for complex64. */
export function dataTypeOf(dtype: tf.DataType, owner: string): DataTypeName {
  if (dtype !== 'complex64') return dtype;
  throw new ValueError('model', 'tensors of a type that layers have', described(`${dtype} in ${owner}`));
}

/** The name of a type by its number; null for one that is not known here. */
export function dataTypeName(number: number | undefined): DataTypeName | null {
  const found = Object.entries(DataType).find(([, each]) => each === number);
  return found === undefined ? null : (found[0] as DataTypeName);
}
