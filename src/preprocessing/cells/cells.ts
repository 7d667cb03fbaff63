/** Raw feature values in any container, read as one flat list. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described, type Described } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { isRecord } from '../../base/options.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { checkRowSplits } from '../../ids/row_splits.js';
import { readInt32, type FlatInput } from '../../ids/values.js';
import { FLOAT32_WHOLE_MAX } from '../../ids/whole_ids.js';
import { checkUtf8Column, isUtf8Column, textsOf, type Utf8Column } from '../columns/utf8_column.js';

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

/** Rows of different lengths: flat values, and where each row begins. */
export interface CellRows {
  readonly values: readonly string[] | readonly number[] | NumberArray | Utf8Column;
  readonly rowSplits: Int32Array | readonly number[];
}

/** What the preprocessing classes take: nested arrays, typed arrays, columns, tensors and ragged rows. */
export type CellData =
  Nested<string | number | bigint> | NumberArray | Utf8Column | CellRows | tf.Tensor | RaggedTensor;

/** Ids in the container of `D`: nested arrays stay nested, tensors stay tensors, ragged rows become a RaggedTensor. */
export type IdsOf<D> = D extends tf.Tensor
  ? tf.Tensor
  : D extends RaggedTensor | CellRows
    ? RaggedTensor
    : D extends NumberArray | Utf8Column
      ? Int32Array
      : D extends readonly (infer E)[]
        ? IdsOf<E>[]
        : number;

/** What a container was, so that results are written in the same. */
export type Container =
  | { readonly kind: 'one' }
  | { readonly kind: 'flat' }
  | { readonly kind: 'nested'; readonly data: readonly unknown[]; readonly depth: number }
  | { readonly kind: 'tensor'; readonly shape: readonly number[] }
  | {
      readonly kind: 'ragged';
      readonly nestedRowSplits: readonly Int32Array[];
      readonly innerShape: readonly number[];
    };

/** What the values are called in errors, and where one of them lies. */
export interface CellPlaces {
  readonly argument: string;
  at(position: number): string;
}

export interface Cells {
  /** All values, row-major. */
  readonly flat: ArrayLike<unknown>;
  readonly count: number;
  /** Where they lie as bytes; `flat` then decodes them when it is first read. */
  readonly utf8?: Utf8Column;
  /** Whether the numbers came from float32, which does not hold every whole number from 2^24 on. */
  readonly isFloat32: boolean;
  readonly container: Container;
  /** Where they come from, where that is known: a column and its rows. */
  readonly places?: CellPlaces | undefined;
}

const DEEPEST = 32;

const CONTAINERS = 'nested arrays, a typed array, a column, a tensor or a RaggedTensor';

/** Reads any container. Throws TypeError for what is none; ValueError where arrays mix depths. */
export function readCells(data: unknown, argument = 'data'): Cells {
  if (data instanceof tf.Tensor) return readTensor(data, argument);
  if (data instanceof RaggedTensor) {
    const { values, nestedRowSplits, innerShape } = data;
    const container = { kind: 'ragged', nestedRowSplits, innerShape } as const;
    return { flat: values, count: values.length, isFloat32: values instanceof Float32Array, container };
  }
  if (isNumberArray(data)) {
    return { flat: data, count: data.length, isFloat32: data instanceof Float32Array, container: { kind: 'flat' } };
  }
  if (Array.isArray(data)) return readNested(data, argument);
  if (['string', 'number', 'bigint'].includes(typeof data)) {
    return { flat: [data], count: 1, isFloat32: false, container: { kind: 'one' } };
  }
  if (isUtf8Column(data)) return readUtf8(data, argument, { kind: 'flat' });
  if (isRecord(data) && 'values' in data && 'rowSplits' in data) return readRows(data, argument);
  throw new ArgumentTypeError(argument, CONTAINERS, data);
}

export function isNumberArray(data: unknown): data is NumberArray {
  return ArrayBuffer.isView(data) && !(data instanceof DataView);
}

function readUtf8(utf8: Utf8Column, argument: string, container: Container): Cells {
  checkUtf8Column(utf8, argument);
  let texts: string[] | null = null;
  return {
    get flat() {
      return (texts ??= textsOf(utf8));
    },
    count: utf8.offsets.length - 1,
    utf8,
    isFloat32: false,
    container,
  };
}

function readRows({ values, rowSplits }: Record<string, unknown>, argument: string): Cells {
  const inner = readCells(values, `${argument}.values`);
  const { kind } = inner.container;
  const isFlat = kind === 'flat' || (kind === 'nested' && inner.container.depth === 1);
  if (!isFlat) throw new ArgumentTypeError(`${argument}.values`, 'flat values', values);
  const splits = readInt32(rowSplits as FlatInput, `${argument}.rowSplits`).slice();
  checkRowSplits(splits, inner.count, `${argument}.rowSplits`);
  const container = { kind: 'ragged', nestedRowSplits: [splits], innerShape: [] } as const;
  return inner.utf8 === undefined ? { ...inner, container } : readUtf8(inner.utf8, argument, container);
}

function readTensor(data: tf.Tensor, argument: string): Cells {
  checkLive(data, argument);
  if (!['string', 'int32', 'float32'].includes(data.dtype)) {
    throw new ArgumentTypeError(argument, 'a tensor of dtype string, int32 or float32', data);
  }
  const flat = data.dataSync() as unknown as ArrayLike<unknown>;
  return {
    flat,
    count: flat.length,
    isFloat32: data.dtype === 'float32',
    container: { kind: 'tensor', shape: data.shape },
  };
}

function readNested(data: readonly unknown[], argument: string): Cells {
  const flat: unknown[] = [];
  let cellDepth: number | null = null;
  let deepest = 0;
  let isFloat32 = false;
  const mixed = (): ValueError =>
    new ValueError(argument, 'values that all lie equally deep', described('values beside arrays'));
  const read = (item: unknown, depth: number): void => {
    if (depth > DEEPEST) throw new ValueError(argument, `arrays at most ${DEEPEST} deep`, described('deeper ones'));
    if (Array.isArray(item) || isNumberArray(item)) {
      if (cellDepth !== null && depth >= cellDepth) throw mixed();
      if (item instanceof Float32Array) isFloat32 = true;
      deepest = Math.max(deepest, depth + 1);
      for (const inner of item) read(inner, depth + 1);
      return;
    }
    cellDepth ??= depth;
    if (cellDepth !== depth) throw mixed();
    flat.push(item);
  };
  read(data, 0);
  return { flat, count: flat.length, isFloat32, container: { kind: 'nested', data, depth: cellDepth ?? deepest } };
}

/** What values are called in errors: by the name of an argument, as a column that is known, or as `data`. */
export type NamedCells = string | CellPlaces | undefined;

/** The argument that a value belongs to, and what came with where it lies, for errors. */
export function namedValue(
  shown: string,
  position: number,
  named: NamedCells,
): [argument: string, received: Described] {
  if (typeof named === 'object') return [named.argument, described(`${shown} ${named.at(position)}`)];
  return [named ?? 'data', described(`${shown} at position ${position}`)];
}

/** The value as text. Throws TypeError, with the position, for anything else. */
export function asString(value: unknown, position: number, named?: NamedCells): string {
  if (typeof value === 'string') return value;
  const [argument, received] = namedValue(kindOf(value), position, named);
  throw new ArgumentTypeError(argument, 'strings', received);
}

/** The value as a whole number. Throws TypeError for other types; ValueError for a fraction, NaN or overflow. */
export function asWhole(value: unknown, position: number, isFloat32: boolean, named?: NamedCells): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    const [argument, received] = namedValue(kindOf(value), position, named);
    throw new ArgumentTypeError(argument, 'whole numbers', received);
  }
  const number = Number(value);
  const limit = isFloat32 ? FLOAT32_WHOLE_MAX : Number.MAX_SAFE_INTEGER;
  if (!Number.isInteger(number) || Math.abs(number) > limit) {
    const expected = isFloat32 ? 'whole numbers below 2^24 in magnitude in float32' : 'whole numbers below 2^53';
    const [argument, received] = namedValue(String(value), position, named);
    throw new ValueError(argument, expected, received);
  }
  return number === 0 ? 0 : number; // -0 and 0 are one token
}

/** The value as a number that is not NaN. Throws TypeError for other types; ValueError for NaN. */
export function asNumber(value: unknown, position: number, named?: NamedCells): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    const [argument, received] = namedValue(kindOf(value), position, named);
    throw new ArgumentTypeError(argument, 'numbers', received);
  }
  const number = Number(value);
  if (!Number.isNaN(number)) return number;
  const [argument, received] = namedValue('NaN', position, named);
  throw new ValueError(argument, 'numbers', received);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
