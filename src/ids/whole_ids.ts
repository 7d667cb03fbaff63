/** Conversion to whole int32, without ever rounding: what does not fit is refused with its position. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { INT32_MAX, INT32_MIN } from '../base/types.js';
import { checkNotLost } from './lost_arrays.js';

/** The largest id that no other whole number becomes in float32: 2^24 may be 2^24 + 1, rounded. */
export const FLOAT32_WHOLE_MAX = 16777215;

const EXPECTED = 'whole numbers that fit int32';

/** Arrays whose every value is an int32. */
const NARROW: readonly (new (...args: never[]) => ArrayBufferView)[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
];

function refuse(argument: string, expected: string, value: unknown, position: number): never {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value);
  const received = `${typeof value === 'bigint' ? `${value}n` : String(value)} at position ${position}`;
  const message = isWhole ? undefined : `\`${argument}\` must be integers: ${received}.`;
  throw new ValueError(argument, expected, described(received, message));
}

function fromNumbers(numbers: ArrayLike<unknown>, argument: string): Int32Array {
  const whole = new Int32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i];
    if (typeof value !== 'number') {
      const received = described(`${value === null ? 'null' : typeof value} at position ${i}`);
      throw new ArgumentTypeError(argument, EXPECTED, received);
    }
    if (!Number.isInteger(value) || value < INT32_MIN || value > INT32_MAX) refuse(argument, EXPECTED, value, i);
    whole[i] = value;
  }
  return whole;
}

function fromBigInts(numbers: BigInt64Array | BigUint64Array, argument: string): Int32Array {
  const whole = new Int32Array(numbers.length);
  const low = BigInt(INT32_MIN);
  const high = BigInt(INT32_MAX);
  numbers.forEach((value: bigint, i: number) => {
    if (value < low || value > high) refuse(argument, EXPECTED, value, i);
    whole[i] = Number(value);
  });
  return whole;
}

function fromFloat32(numbers: Float32Array, argument: string): Int32Array {
  const expected = `whole numbers below 2^24 in magnitude (float32 does not hold every larger one)`;
  const whole = new Int32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]!;
    if (!Number.isInteger(value) || Math.abs(value) > FLOAT32_WHOLE_MAX) refuse(argument, expected, value, i);
    whole[i] = value;
  }
  return whole;
}

/**
 * Returns the values as int32: an Int32Array is handed back as it is, everything else becomes a new array.
 *
 * @throws TypeError for anything but numbers; ValueError, with the position, for a fraction, NaN or a value that does
 * not fit (for Float32Array: from 2^24 on), and for an array that lost its memory.
 */
export function toInt32(vector: unknown, argument: string): Int32Array {
  if (ArrayBuffer.isView(vector)) checkNotLost(vector, argument);
  if (vector instanceof Int32Array) return vector;
  if (Array.isArray(vector)) return fromNumbers(vector, argument);
  if (vector instanceof Float32Array) return fromFloat32(vector, argument);
  if (vector instanceof Float64Array || vector instanceof Uint32Array) return fromNumbers(vector, argument);
  if (vector instanceof BigInt64Array || vector instanceof BigUint64Array) return fromBigInts(vector, argument);
  if (NARROW.some((type) => vector instanceof type)) return Int32Array.from(vector as Int16Array);
  throw new ArgumentTypeError(argument, 'an array or a typed array of whole numbers', vector);
}
