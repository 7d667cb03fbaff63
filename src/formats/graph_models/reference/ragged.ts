/** Ragged tensors as row splits and flat values. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import {
  checkRank,
  copyValues,
  hostArray,
  int32Array,
  int32Vector,
  integers,
  sizeOf,
  type HostArray,
} from '../host_array.js';

/** Splits must start at 0, never fall, and end at the number of what they split; returns their numbers. */
function checkSplits(splits: HostArray, length: number, argument: string): Int32Array {
  checkRank(splits, 1, argument);
  const numbers = integers(splits, argument);
  if (numbers.length === 0 || numbers[0] !== 0) {
    throw new ValueError(
      argument,
      'row splits that start at 0',
      described(numbers.length === 0 ? 'none' : `${numbers[0]}`),
    );
  }
  const falls = numbers.findIndex((split, i) => i > 0 && split < numbers[i - 1]!);
  if (falls > 0)
    throw new ValueError(argument, 'non-decreasing row splits', described(`${numbers[falls]} at ${falls}`));
  const last = numbers[numbers.length - 1]!;
  if (last !== length) throw new ValueError(argument, `row splits that end at ${length}`, last);
  return numbers;
}

/** Splits of all levels, each checked against the next. */
function checkNested(splits: readonly HostArray[], values: HostArray, argument: string): Int32Array[] {
  if (values.shape.length === 0) throw new ValueError('values', 'at least a vector', described('a scalar'));
  if (splits.length === 0) throw new ValueError(argument, 'at least one vector of splits', described('none'));
  return splits.map((level, i) => {
    const next = splits[i + 1];
    const length = next === undefined ? values.shape[0]! : next.shape[0]! - 1;
    return checkSplits(level, length, `${argument}[${i}]`);
  });
}

/** Coordinates, values and dense shape of a ragged tensor. */
export function raggedTensorToSparse(nestedSplits: readonly HostArray[], values: HostArray): HostArray[] {
  const splits = checkNested(nestedSplits, values, 'rt_nested_splits');
  const inner = values.shape.slice(1);
  const width = sizeOf(inner);
  const rank = splits.length + values.shape.length;
  const indices: number[] = [];
  const longest = splits.map(() => 0);
  const visit = (level: number, row: number, prefix: readonly number[]): void => {
    const [start, end] = [splits[level]![row]!, splits[level]![row + 1]!];
    longest[level] = Math.max(longest[level]!, end - start);
    for (let at = start; at < end; at++) {
      const place = [...prefix, at - start];
      if (level + 1 < splits.length) visit(level + 1, at, place);
      else for (let j = 0; j < width; j++) indices.push(...place, ...coordinates(j, inner));
    }
  };
  const rows = splits[0]!.length - 1;
  for (let row = 0; row < rows; row++) visit(0, row, [row]);
  const count = sizeOf(values.shape);
  return [
    int32Array([count, rank], indices, 'sparse_indices'),
    hostArray(values.dtype, [count], values.values),
    int32Vector([rows, ...longest, ...inner], 'sparse_dense_shape'),
  ];
}

/** Where the value of a flat index lies. */
function coordinates(flat: number, shape: readonly number[]): number[] {
  const place = new Array<number>(shape.length);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    place[axis] = flat % shape[axis]!;
    flat = Math.floor(flat / shape[axis]!);
  }
  return place;
}

/** Rows of a ragged tensor by index; a scalar index or a matrix of them changes the number of ragged axes. */
export function raggedGather(nestedSplits: readonly HostArray[], values: HostArray, indices: HostArray): HostArray[] {
  const splits = checkNested(nestedSplits, values, 'params_nested_splits');
  const rows = splits[0]!.length - 1;
  const picked = integers(indices, 'indices');
  picked.forEach((row, i) => {
    if (row < 0 || row >= rows) throw new ValueError('indices', `indices in [0, ${rows})`, described(`${row} at ${i}`));
  });
  const output: number[][] = splits.map(() => [0]);
  // At each level the rows that are picked are spans of the level below.
  let spans: (readonly [number, number])[] = Array.from(picked, (row) => [row, row + 1]);
  splits.forEach((level, depth) => {
    const next: (readonly [number, number])[] = [];
    const into = output[depth]!;
    for (const [start, end] of spans) {
      for (let row = start; row < end; row++) into.push(into[into.length - 1]! + level[row + 1]! - level[row]!);
      if (end > start) next.push([level[start]!, level[end]!]);
    }
    spans = next;
  });
  const inner = values.shape.slice(1);
  const width = sizeOf(inner);
  const total = spans.reduce((sum, [start, end]) => sum + end - start, 0);
  const result = hostArray(values.dtype, [total, ...inner]);
  let at = 0;
  for (const [start, end] of spans) {
    copyValues(values.values, start * width, (end - start) * width, result.values, at * width);
    at += end - start;
  }
  return [...outerSplits(indices), ...output.map((level) => int32Vector(level, 'output_nested_splits')), result];
}

/** Splits of the axes that indices of rank 2 and more add; a scalar takes one away. */
function outerSplits(indices: HostArray): HostArray[] {
  return indices.shape.slice(0, -1).map((_, axis) => {
    const rows = sizeOf(indices.shape.slice(0, axis + 1));
    const length = indices.shape[axis + 1]!;
    return int32Vector(
      Array.from({ length: rows + 1 }, (_row, i) => i * length),
      'output_nested_splits',
    );
  });
}

/** How many numbers a range has; TensorFlow counts in the type of its numbers. */
export function countOfSteps(start: number, limit: number, delta: number, dtype: tf.DataType): number {
  if (dtype !== 'float32') return Math.ceil((limit - start) / delta);
  return Math.ceil(Math.fround(Math.fround(limit - start) / delta));
}

/** One range of numbers for each row. */
export function raggedRange(starts: HostArray, limits: HostArray, deltas: HostArray): HostArray[] {
  const inputs = { starts, limits, deltas };
  let rows = 1;
  let length: number | null = null;
  for (const [name, { shape }] of Object.entries(inputs)) {
    if (shape.length > 1) throw new ValueError(name, 'a scalar or a vector', described(`shape [${shape.join(', ')}]`));
    if (shape.length === 0) continue;
    if (length !== null && shape[0] !== length) {
      throw new ValueError(name, `${length} numbers, as many as the others`, described(`${shape[0]}`));
    }
    rows = length = shape[0]!;
  }
  const at = ({ shape, values }: HostArray, row: number): number =>
    (values as Float32Array)[shape.length === 0 ? 0 : row]!;
  const splits = [0];
  for (let row = 0; row < rows; row++) {
    const [start, limit, delta] = [at(starts, row), at(limits, row), at(deltas, row)];
    if (delta === 0) throw new ValueError('deltas', 'steps other than 0', described(`0 in row ${row}`));
    splits.push(splits[row]! + Math.max(0, countOfSteps(start, limit, delta, starts.dtype)));
  }
  const values = hostArray(starts.dtype, [splits[rows]!]);
  const numbers = values.values as Float32Array | Int32Array;
  for (let row = 0; row < rows; row++) {
    // As TensorFlow adds: a float32 is rounded after each step, when it is stored.
    for (let i = splits[row]!; i < splits[row + 1]!; i++) {
      numbers[i] = i === splits[row] ? at(starts, row) : numbers[i - 1]! + at(deltas, row);
    }
  }
  return [int32Vector(splits, 'rt_nested_splits'), values];
}
