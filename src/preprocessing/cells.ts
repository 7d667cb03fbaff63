/** Raw feature values in any container: read as one flat list, ids written back in the same container. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';

/** Typed arrays of numbers. */
export type NumberArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** A string or number, or arrays of them to any depth, even or uneven. */
export type Nested<C> = C | readonly Nested<C>[] | readonly NumberArray[];

/** What the preprocessing classes take: nested arrays, typed arrays, tensors and ragged tensors. */
export type CellData = Nested<string | number | bigint> | NumberArray | tf.Tensor | RaggedTensor;

/** Ids in the container of `D`: nested arrays stay nested, tensors stay tensors. */
export type IdsOf<D> = D extends tf.Tensor
  ? tf.Tensor
  : D extends RaggedTensor
    ? RaggedTensor
    : D extends NumberArray
      ? Int32Array
      : D extends readonly (infer E)[]
        ? IdsOf<E>[]
        : number;

export interface Cells {
  /** All values, row-major. */
  readonly flat: ArrayLike<unknown>;
  /** Whether the numbers came from float32, which does not hold every whole number above 2^24. */
  readonly isFloat32: boolean;
  /** The ids, one for each value, in the container that the values came in. */
  write(ids: Int32Array): unknown;
}

const DEEPEST = 32;

/** Reads any container. Throws TypeError for what is none; ValueError where arrays mix depths. */
export function readCells(data: unknown, argument = 'data'): Cells {
  return readContainer(data, argument);
}

const CONTAINERS = 'nested arrays, a typed array, a tensor or a RaggedTensor';

function readContainer(data: unknown, argument: string): Cells {
  if (data instanceof tf.Tensor) return readTensor(data, argument);
  if (data instanceof RaggedTensor) {
    const { values, nestedRowSplits, innerShape } = data;
    const write = (ids: Int32Array): RaggedTensor => RaggedTensor.fromNestedRowSplits(ids, nestedRowSplits, innerShape);
    return { flat: values, isFloat32: values instanceof Float32Array, write };
  }
  if (isNumberArray(data)) return { flat: data, isFloat32: data instanceof Float32Array, write: (ids) => ids };
  if (Array.isArray(data)) return readNested(data, argument);
  if (typeof data === 'string' || typeof data === 'number' || typeof data === 'bigint') {
    return { flat: [data], isFloat32: false, write: (ids) => ids[0] };
  }
  throw new ArgumentTypeError(argument, CONTAINERS, data);
}

function isNumberArray(data: unknown): data is NumberArray {
  return ArrayBuffer.isView(data) && !(data instanceof DataView);
}

function readTensor(data: tf.Tensor, argument: string): Cells {
  checkLive(data, argument);
  if (!['string', 'int32', 'float32'].includes(data.dtype)) {
    throw new ArgumentTypeError(argument, 'a tensor of dtype string, int32 or float32', data);
  }
  const { shape } = data;
  return {
    flat: data.dataSync() as unknown as ArrayLike<unknown>,
    isFloat32: data.dtype === 'float32',
    write: (ids) => tf.tensor(ids, shape, 'int32'),
  };
}

function readNested(data: readonly unknown[], argument: string): Cells {
  const flat: unknown[] = [];
  let cellDepth: number | null = null;
  let isFloat32 = false;
  const mixed = (): ValueError =>
    new ValueError(argument, 'values that all lie equally deep', described('values beside arrays'));
  const read = (item: unknown, depth: number): void => {
    if (depth > DEEPEST) throw new ValueError(argument, `arrays at most ${DEEPEST} deep`, described('deeper ones'));
    if (Array.isArray(item) || isNumberArray(item)) {
      if (cellDepth !== null && depth >= cellDepth) throw mixed();
      if (item instanceof Float32Array) isFloat32 = true;
      for (const inner of item) read(inner, depth + 1);
      return;
    }
    cellDepth ??= depth;
    if (cellDepth !== depth) throw mixed();
    flat.push(item);
  };
  read(data, 0);
  return { flat, isFloat32, write: (ids) => writeNested(data, ids) };
}

function writeNested(data: readonly unknown[], ids: Int32Array): unknown {
  let next = 0;
  const write = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(write);
    if (isNumberArray(item)) return ids.slice(next, (next += item.length));
    return ids[next++];
  };
  return write(data);
}

/** Above this, float32 does not hold every whole number. */
const FLOAT32_WHOLE_MAX = 16777216;

/** The value as text. Throws TypeError, with the position, for anything else. */
export function asString(value: unknown, position: number, argument = 'data'): string {
  if (typeof value === 'string') return value;
  throw new ArgumentTypeError(argument, 'strings', described(`${kindOf(value)} at position ${position}`));
}

/** The value as a whole number. Throws TypeError for other types; ValueError for a fraction, NaN or overflow. */
export function asWhole(value: unknown, position: number, isFloat32: boolean, argument = 'data'): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw new ArgumentTypeError(argument, 'whole numbers', described(`${kindOf(value)} at position ${position}`));
  }
  const number = Number(value);
  const limit = isFloat32 ? FLOAT32_WHOLE_MAX : Number.MAX_SAFE_INTEGER;
  if (!Number.isInteger(number) || Math.abs(number) > limit) {
    const expected = isFloat32 ? 'whole numbers of at most 2^24 in magnitude in float32' : 'whole numbers below 2^53';
    throw new ValueError(argument, expected, described(`${String(value)} at position ${position}`));
  }
  return number === 0 ? 0 : number; // -0 and 0 are one token
}

/** The value as a number that is not NaN. Throws TypeError for other types; ValueError for NaN. */
export function asNumber(value: unknown, position: number, argument = 'data'): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw new ArgumentTypeError(argument, 'numbers', described(`${kindOf(value)} at position ${position}`));
  }
  const number = Number(value);
  if (Number.isNaN(number)) throw new ValueError(argument, 'numbers', described(`NaN at position ${position}`));
  return number;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
