/** Results written in the container that the values came in. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { isNumberArray, type Cells, type Container } from './cells.js';

/** Numbers or texts, one for each value. */
export type WrittenValues = Int32Array | Float32Array | readonly number[] | readonly string[];

function isTexts(values: WrittenValues): values is readonly string[] {
  return typeof values[0] === 'string';
}

function tensorOf(values: WrittenValues, shape: readonly number[]): tf.Tensor {
  if (isTexts(values)) return tf.tensor([...values], [...shape], 'string');
  const isFloat = values instanceof Float32Array || values.some((value) => !Number.isInteger(value));
  if (!isFloat && Array.isArray(values)) checkInt32(values);
  return tf.tensor(values as Int32Array, [...shape], isFloat ? 'float32' : 'int32');
}

/** Throws ValueError for whole numbers that a tensor would cut to 32 bits. */
function checkInt32(values: readonly number[]): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === (value | 0)) continue;
    const note = 'Give the ids in an array: the values then come in one.';
    throw new ValueError('data', 'ids of values of int32 in a tensor', described(`${value} at position ${i}`), note);
  }
}

/** One result for each value. */
export function writeCells({ container }: Cells, values: WrittenValues): unknown {
  switch (container.kind) {
    case 'one':
      return values[0];
    case 'flat':
      return values;
    case 'nested':
      return writeNested(container.data, (at, count) => values.slice(at, at + count), values);
    case 'tensor':
      return tensorOf(values, container.shape);
    case 'ragged': {
      const { nestedRowSplits, innerShape } = container;
      // A RaggedTensor holds numbers.
      if (isTexts(values)) return { values, rowSplits: nestedRowSplits[0] };
      if (Array.isArray(values)) checkInt32(values as number[]);
      return RaggedTensor.fromNestedRowSplits(values as Int32Array, nestedRowSplits, innerShape);
    }
  }
}

function writeNested(
  data: readonly unknown[],
  typed: (at: number, count: number) => unknown,
  values: ArrayLike<unknown>,
): unknown {
  let next = 0;
  const write = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(write);
    if (isNumberArray(item)) return typed((next += item.length) - item.length, item.length);
    return values[next++];
  };
  return write(data);
}

/** Lengths of each axis of even data; null for data that are not even. */
export function shapeOf({ container, count }: Cells): number[] | null {
  switch (container.kind) {
    case 'one':
      return [];
    case 'flat':
      return [count];
    case 'tensor':
      return [...container.shape];
    case 'ragged':
      return null;
    case 'nested': {
      const shape: number[] = [];
      for (let part: ArrayLike<unknown> = container.data; ; part = part[0] as ArrayLike<unknown>) {
        shape.push(part.length);
        if (!Array.isArray(part[0]) && !isNumberArray(part[0])) break;
      }
      const isEven = (part: ArrayLike<unknown>, depth: number): boolean => {
        if (part.length !== shape[depth]) return false;
        return depth === shape.length - 1 || Array.from(part).every((each) => isEven(each as [], depth + 1));
      };
      return isEven(container.data, 0) ? shape : null;
    }
  }
}

/** Splits of the rows [batch, length] of values; null: all of them are one row. Throws ValueError for deeper values. */
export function rowsOf(cells: Cells, argument = 'data'): Int32Array | null {
  const { container } = cells;
  const rank = rankOf(container);
  if (rank < 2) return null;
  if (rank > 2) throw new ValueError(argument, 'values [batch, length]', described(`rank ${rank}`));
  if (container.kind === 'ragged' && container.nestedRowSplits.length === 1) return container.nestedRowSplits[0]!;
  const lengths =
    container.kind === 'nested'
      ? container.data.map((row) => (row as ArrayLike<unknown>).length)
      : evenLengths(shapeOf(cells) as [number, number]);
  const splits = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => (splits[row + 1] = splits[row]! + length));
  return splits;
}

function evenLengths([rows, length]: [number, number]): number[] {
  return new Array<number>(rows).fill(length);
}

export function rankOf(container: Container): number {
  switch (container.kind) {
    case 'one':
      return 0;
    case 'flat':
      return 1;
    case 'nested':
      return container.depth;
    case 'tensor':
      return container.shape.length;
    case 'ragged':
      return 1 + container.nestedRowSplits.length + container.innerShape.length;
  }
}

/** A vector for each value: one more axis, in place of a last one of length 1 where the data are even. */
export function writeVectors(cells: Cells, vectors: Float32Array, depth: number): unknown {
  const { container } = cells;
  const vector = (i: number): number[] => Array.from(vectors.subarray(i * depth, (i + 1) * depth));
  const shape = shapeOf(cells);
  const isColumn = shape !== null && shape.length > 1 && shape.at(-1) === 1;
  switch (container.kind) {
    case 'one':
      return vector(0);
    case 'tensor':
      return tf.tensor(vectors, [...(isColumn ? container.shape.slice(0, -1) : container.shape), depth], 'float32');
    case 'ragged':
      return RaggedTensor.fromNestedRowSplits(vectors, container.nestedRowSplits, [...container.innerShape, depth]);
    default: {
      const { count } = cells;
      const each = Array.from({ length: count }, (_, i) => vector(i));
      if (container.kind === 'flat') return each;
      const nested = writeNested(container.data, (at, length) => each.slice(at, at + length), each);
      return isColumn ? withoutLast(nested, shape.length) : nested;
    }
  }
}

/** Arrays without their last axis of length 1. */
function withoutLast(nested: unknown, rank: number): unknown {
  return rank === 1 ? (nested as unknown[])[0] : (nested as unknown[]).map((each) => withoutLast(each, rank - 1));
}

/** A vector for each row; `rows` as `rowsOf` gives them. */
export function writeRows(
  { container }: Cells,
  rows: Int32Array | null,
  vectors: Float32Array,
  depth: number,
): unknown {
  const isTensor = container.kind === 'tensor' || container.kind === 'ragged';
  if (isTensor) return tf.tensor(vectors, rows === null ? [depth] : [rows.length - 1, depth], 'float32');
  if (rows === null) return Array.from(vectors);
  return Array.from({ length: rows.length - 1 }, (_, r) => Array.from(vectors.subarray(r * depth, (r + 1) * depth)));
}
