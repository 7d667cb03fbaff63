/** Tensor lists whose elements are rows of one tensor, some of more rows than others: joined, and split. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readInt32 } from '../../../ids/values.js';
import {
  isFullyDefined,
  mergeShapes,
  readPartialShape,
  showShape,
  type PartialShape,
} from '../../../lookup/tensor_array/partial_shape.js';
import { shapeAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { TensorList, elementDtype, givenShape, handleOf, ownElements, typedListOf, zerosOf } from './tensor_list.js';

/** The shape of a row of the elements; null: unknown. */
function rowShape(list: TensorList, element: PartialShape): PartialShape {
  if (element?.length === 0) throw new ValueError('element_shape', 'that of vectors at least', described('a scalar'));
  let row: PartialShape = element?.slice(1) ?? null;
  list.elements.forEach((tensor, i) => {
    if (tensor === undefined) return;
    const { rank, shape } = tensor;
    if (rank === 0) throw new ValueError('input_handle', 'vectors at least', described(`a scalar as element ${i}`));
    row = mergeShapes(row, shape.slice(1), 'input_handle');
  });
  return row;
}

/** The rows of an unwritten element of unknown shape: as many as each of the others has. */
function commonRows({ elements }: TensorList): number | null {
  const lengths = new Set(elements.flatMap((tensor) => (tensor === undefined ? [] : [tensor.shape[0]!])));
  return lengths.size === 1 ? [...lengths][0]! : null;
}

/** The elements one after the other along their first axis, and how many rows each has. */
function joined(list: TensorList, element: PartialShape, leading: Int32Array): tf.Tensor[] {
  const row = rowShape(list, element);
  if (!isFullyDefined(row)) {
    throw new ValueError(
      'element_shape',
      'the size of each axis but the first',
      described(`rows of ${showShape(row)}`),
    );
  }
  return tf.tidy(() => {
    const usual = element?.[0] ?? commonRows(list);
    const parts = list.elements.map((tensor, i) => {
      if (tensor !== undefined) return tensor;
      const rows = leading[i] ?? usual;
      if (rows !== null && rows >= 0) return zerosOf([rows, ...row], list.dtype);
      throw new ValueError('leading_dims', `the rows of element ${i}, which was never written`, described('none'));
    });
    const lengths = parts.map(({ shape }) => shape[0]!);
    const rows = parts.length === 0 ? tf.tensor([], [0, ...row], list.dtype) : tf.concat(parts);
    return [rows, tf.tensor1d(lengths, 'int32')];
  });
}

export function concatList([handle]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const list = typedListOf(handle, node);
  const unwritten = list.elements.indexOf(undefined);
  if (unwritten >= 0) {
    throw new ValueError('input_handle', 'elements that were written', described(`none at ${unwritten}`));
  }
  const given = readPartialShape(shapeAttribute(node, 'element_shape'), 'element_shape');
  return joined(list, list.mergedShape(given), new Int32Array(0));
}

export function concatListV2([handle, shape, leading]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const list = typedListOf(handle, node);
  return joined(list, list.mergedShape(givenShape(shape)), readInt32(leading, 'leading_dims'));
}

export function splitIntoList([tensor, shape, lengths]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const list = new TensorList([], givenShape(shape), elementDtype(node));
  const [rows, ...row] = tensor!.shape;
  if (rows === undefined) throw new ValueError('tensor', 'at least a vector', tensor);
  if (lengths!.rank !== 1) throw new ValueError('lengths', 'a vector', lengths);
  const sizes = Array.from(readInt32(lengths, 'lengths'));
  const negative = sizes.find((size) => size < 0);
  if (negative !== undefined) throw new ValueError('lengths', 'lengths of at least 0', negative);
  const sum = sizes.reduce((total, size) => total + size, 0);
  if (sum !== rows) throw new ValueError('lengths', `a sum of ${rows}, the rows of tensor`, sum);
  for (const size of sizes) list.mergedShape([size, ...row]);
  const parts = sizes.length === 0 ? [] : ownElements(tf.split(tensor!, sizes), node);
  return handleOf(list.with(parts), node);
}
