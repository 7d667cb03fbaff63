/** Conversion to float32 of weights and other real values. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import { checkNotLost } from './lost_arrays.js';

/**
 * Returns the values as float32: a Float32Array is handed back as it is, everything else becomes a new array.
 *
 * @throws TypeError for anything but numbers; ValueError, with the position, for a finite value that float32 cannot hold,
 * and for an array that lost its memory.
 */
export function toFloat32(vector: unknown, argument: string): Float32Array {
  if (ArrayBuffer.isView(vector)) checkNotLost(vector, argument);
  if (vector instanceof Float32Array) return vector;
  const isNumeric =
    ArrayBuffer.isView(vector) &&
    !(vector instanceof DataView || vector instanceof BigInt64Array || vector instanceof BigUint64Array);
  if (!isNumeric && !Array.isArray(vector)) {
    throw new ArgumentTypeError(argument, 'an array or a typed array of numbers', vector);
  }
  const numbers = vector as unknown as ArrayLike<unknown>;
  const floats = new Float32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i];
    if (typeof value !== 'number') {
      const received = described(`${value === null ? 'null' : typeof value} at position ${i}`);
      throw new ArgumentTypeError(argument, 'numbers', received);
    }
    floats[i] = value;
    if (Number.isFinite(value) && !Number.isFinite(floats[i])) {
      throw new ValueError(argument, 'numbers that fit float32', described(`${value} at position ${i}`));
    }
  }
  return floats;
}

/** Where a weight stands, in words; null where there is one only. */
type PlaceOf = (position: number) => string | null;

/** Throws ValueError where a weight is NaN. */
export function checkNoNaN(
  values: ArrayLike<number>,
  argument: string,
  placeOf: PlaceOf = (position) => `position ${position}`,
): void {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isNaN(values[i])) continue;
    const place = placeOf(i);
    const received = place === null ? 'NaN' : `NaN at ${place}`;
    const message = `\`${argument}\` is ${received}.`;
    throw new ValueError(argument, 'a number as the weight of each id', described(received, message));
  }
}

/** Whether no number of a tensor is NaN; false where that is not known. */
type KnowsNoNaN = (tensor: tf.Tensor) => boolean;

const knowing = (): Map<string, KnowsNoNaN> => perProcess('backends that look for NaN', () => new Map());

/** Registers a check for NaN that a backend runs itself, so that tensors need not be read. */
export function registerNaNCheck(backendName: string, knowsNoNaN: KnowsNoNaN): void {
  knowing().set(backendName, knowsNoNaN);
}

/** The same for a tensor. */
export function checkNoNaNIn(tensor: tf.Tensor, argument: string, placeOf: PlaceOf): void {
  if (knowing().get(tf.getBackend())?.(tensor) === true) return;
  checkNoNaN(tensor.dataSync(), argument, placeOf);
}
