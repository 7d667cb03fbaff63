/** Sparse tensors as plain data: one entry per value, with its place. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readNestedRows, type SplitRows } from './nested_rows.js';
import { checkSize, longestRow } from './row_splits.js';
import { isTypedArray, readTensor, type FlatInput } from './values.js';
import { toInt32 } from './whole_ids.js';

/** Places of the values: [nnz, rank] nested, flat or as a tensor. */
export type SparseIndices = readonly (readonly number[])[] | FlatInput;

/** A sparse tensor as users give it; entries in row-major order. */
export interface SparseInput {
  readonly indices: SparseIndices;
  readonly values: FlatInput;
  readonly denseShape: readonly number[] | Int32Array | tf.Tensor;
}

/** A sparse tensor that this package made. */
export interface SparseValues {
  readonly indices: Int32Array; // [nnz * rank]
  readonly values: Int32Array | Float32Array; // [nnz]
  readonly denseShape: number[];
}

/** Whether something looks like a sparse tensor. */
export function isSparse(value: unknown): value is SparseInput {
  return (
    typeof value === 'object' &&
    value !== null &&
    'indices' in value &&
    'values' in value &&
    !(value instanceof tf.Tensor) &&
    !ArrayBuffer.isView(value)
  );
}

/** Length of a vector of any kind. */
export function vectorLength(vector: unknown, argument: string): number {
  if (vector instanceof tf.Tensor) {
    if (vector.rank !== 1) throw new ValueError(argument, 'a vector (rank 1)', vector);
    return vector.size;
  }
  if (Array.isArray(vector) || isTypedArray(vector)) return vector.length;
  throw new ArgumentTypeError(argument, 'an array, a typed array or a vector', vector);
}

function readIndices(indices: unknown, rank: number, argument: string): Int32Array {
  if (indices instanceof tf.Tensor) {
    const isFlat = indices.rank === 1;
    if (!isFlat && (indices.rank !== 2 || indices.shape[1] !== rank)) {
      throw new ValueError(argument, `shape [nnz, ${rank}]`, indices);
    }
    return toInt32(readTensor(indices, argument), argument);
  }
  if (!Array.isArray(indices)) return toInt32(indices, argument);
  const { flat, depth, shape } = readNestedRows(indices, argument);
  if (depth > 2 || (depth === 2 && shape?.[1] !== rank)) {
    throw new ValueError(argument, `one index per axis (${rank}) for each value`, described('other lengths'));
  }
  return toInt32(flat, argument);
}

/** Places of the entries. */
export interface SparsePlaces {
  readonly indices: Int32Array; // [count * rank]
  readonly denseShape: readonly number[];
  readonly count: number;
}

/** The places, checked: inside denseShape and, unless said otherwise, in row-major order. */
export function readSparse(sparse: unknown, argument: string, isSorted = true): SparsePlaces {
  const places = readPlaces(sparse, argument);
  checkPlaces(places, `${argument}.indices`, isSorted);
  return places;
}

const EXPECTED = '{indices, values, denseShape}';

/** The places of the entries as they were given: of the right number, and not checked any further. */
export function readPlaces(sparse: unknown, argument: string): SparsePlaces {
  if (!isSparse(sparse)) throw new ArgumentTypeError(argument, EXPECTED, sparse);
  const shapeName = `${argument}.denseShape`;
  const raw: unknown = sparse.denseShape;
  const lengths = raw instanceof tf.Tensor ? readTensor(raw, shapeName) : raw;
  if (!Array.isArray(lengths) && !isTypedArray(lengths)) {
    throw new ArgumentTypeError(shapeName, 'an array of lengths', raw);
  }
  const denseShape = Array.from(lengths as ArrayLike<unknown>, (length) => checkSize(length, shapeName));
  if (denseShape.length === 0) throw new ValueError(shapeName, 'at least one axis', denseShape);
  const count = vectorLength(sparse.values, `${argument}.values`);
  const indices = readIndices(sparse.indices, denseShape.length, `${argument}.indices`);
  if (indices.length !== count * denseShape.length) {
    const expected = `${count} values x ${denseShape.length} axes`;
    throw new ValueError(`${argument}.indices`, expected, described(`${indices.length} numbers`));
  }
  return { indices, denseShape, count };
}

function checkPlaces({ indices, denseShape, count }: SparsePlaces, argument: string, isSorted: boolean): void {
  const rank = denseShape.length;
  for (let i = 0; i < count; i++) {
    for (let axis = 0; axis < rank; axis++) {
      const index = indices[i * rank + axis]!;
      if (index < 0 || index >= denseShape[axis]!) {
        const received = described(`${index} at position ${i}`);
        throw new ValueError(argument, `indices in [0, ${denseShape[axis]!}) on axis ${axis}`, received);
      }
    }
    if (isSorted && i > 0 && comparePlaces(indices, rank, i - 1, i) > 0) {
      const received = described(`an entry out of order at position ${i}`);
      throw new ValueError(argument, 'entries in row-major order', received, 'sparse.reorder(…) sorts them.');
    }
  }
}

/** Below 0 where entry a comes before entry b in row-major order; 0 for one place. */
export function comparePlaces(indices: Int32Array, rank: number, a: number, b: number): number {
  for (let axis = 0; axis < rank; axis++) {
    const difference = indices[a * rank + axis]! - indices[b * rank + axis]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Lengths of the rows of a sparse matrix whose entries fill each row from its first column on. */
export function lengthsOfSparse(sparse: SparseInput, argument: string): Int32Array {
  const { indices, denseShape, count } = readSparse(sparse, argument);
  if (denseShape.length !== 2) throw new ValueError(`${argument}.denseShape`, 'two axes', sparse.denseShape);
  const lengths = new Int32Array(denseShape[0]!);
  for (let i = 0; i < count; i++) {
    const [row, column] = [indices[2 * i]!, indices[2 * i + 1]!];
    if (column !== lengths[row]) {
      const received = described(`column ${column} after ${lengths[row]} entries of row ${row}`);
      throw new ValueError(`${argument}.indices`, 'rows filled from column 0 without gaps', received);
    }
    lengths[row]!++;
  }
  return lengths;
}

/** The values of ragged rows with the place of each. */
export function sparseOf({ values, nestedRowSplits, innerShape }: SplitRows): SparseValues {
  const rank = 1 + nestedRowSplits.length + innerShape.length;
  const longest = nestedRowSplits.map(longestRow);
  const indices = new Int32Array(values.length * rank);
  let written = 0;
  const walk = (axis: number, entry: number, path: number[]): void => {
    const splits = nestedRowSplits[axis];
    const first = splits === undefined ? 0 : splits[entry]!;
    const end = splits === undefined ? (innerShape[axis - nestedRowSplits.length] ?? -1) : splits[entry + 1]!;
    if (end === -1) {
      indices.set(path, written);
      written += rank;
      return;
    }
    for (let i = first; i < end; i++) walk(axis + 1, i, [...path, i - first]);
  };
  const [outer] = nestedRowSplits as [Int32Array];
  for (let row = 0; row + 1 < outer.length; row++) walk(0, row, [row]);
  return { indices, values: values.slice(), denseShape: [outer.length - 1, ...longest, ...innerShape] };
}
