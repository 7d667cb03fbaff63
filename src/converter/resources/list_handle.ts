/** Tensor lists of tfjs-converter, as ops of this package read them. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../errors.js';
import { readInt32 } from '../../ragged/values.js';
import { mergeShapes, readPartialShape, type PartialShape } from '../../tensor_array/partial_shape.js';
import { findTensorList, type StockTensorList } from '../../tfjs_patches/graph_models/tensor_lists.js';

/** The list that a handle stands for; TypeError where it stands for none. */
export function listOf(handle: tf.Tensor, node: tf.GraphNode): StockTensorList {
  const found = findTensorList(handle, node);
  if (found !== undefined) return found;
  throw new ArgumentTypeError('input_handle', 'the handle of a tensor list', described('another tensor'));
}

/** The same; ValueError unless its elements have the dtype that the node names. */
export function typedListOf(handle: tf.Tensor, node: tf.GraphNode): StockTensorList {
  const list = listOf(handle, node);
  const wanted = node.attrs['element_dtype'];
  if (wanted === list.elementDtype) return list;
  throw new ValueError('element_dtype', `${list.elementDtype}, that of the list`, wanted);
}

/** A shape that a graph holds as a tensor: a scalar is one of unknown rank. */
export function givenShape(shape: tf.Tensor): PartialShape {
  return readPartialShape(shape.rank === 0 ? null : Array.from(readInt32(shape, 'element_shape')), 'element_shape');
}

/** What the list and an op say about the shape of its elements. */
export function elementShapeOf({ elementShape }: StockTensorList, given: PartialShape): PartialShape {
  const own = typeof elementShape === 'number' ? null : readPartialShape(elementShape, 'element_shape');
  return mergeShapes(own, given, 'element_shape');
}
