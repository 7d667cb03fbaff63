/**
 * Elements of tensor lists, one at a time. tfjs-converter reads an element only where all have one shape, and its
 * functions free what they put into a list. Here a list has tensors of its own.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../errors.js';
import { readWhole } from '../../tensor_array/arguments.js';
import { isFullyDefined, mergeShapes, showShape } from '../../tensor_array/partial_shape.js';
import { atEndOfRun } from '../../tfjs_patches/graph_models/graph_run.js';
import type { StockTensorList } from '../../tfjs_patches/graph_models/tensor_lists.js';
import { elementShapeOf, givenShape, typedListOf } from './list_handle.js';

function placeOf(index: tf.Tensor): number {
  const place = readWhole(index, 'index');
  if (place >= 0) return place;
  throw new ValueError('index', 'an index of at least 0', place);
}

/** The list's own tensor with these values, until the run ends. */
function ownItem(item: tf.Tensor, list: StockTensorList, node: tf.GraphNode): tf.Tensor {
  if (item.dtype !== list.elementDtype) {
    throw new ValueError('item', `dtype ${list.elementDtype}, that of the list`, item);
  }
  elementShapeOf(list, item.shape);
  const own = tf.keep(item.clone());
  atEndOfRun(node, () => {
    own.dispose();
  });
  return own;
}

export function setItem([handle, index, item]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const list = typedListOf(handle!, node);
  const place = placeOf(index!);
  if (list.maxNumElements !== -1 && place >= list.maxNumElements) {
    throw new ValueError('index', `an index below ${list.maxNumElements}, the most elements of the list`, place);
  }
  list.tensors[place] = ownItem(item!, list, node);
  return list.idTensor;
}

export function pushBack([handle, item]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const list = typedListOf(handle!, node);
  if (list.tensors.length === list.maxNumElements) {
    throw new ValueError('input_handle', 'a list with room', described(`one of ${list.maxNumElements}, which is full`));
  }
  list.tensors.push(ownItem(item!, list, node));
  return list.idTensor;
}

/** An element that nobody wrote is all zeros, of the shape that the others have. */
export function getItem([handle, index, shape]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const list = typedListOf(handle!, node);
  const place = placeOf(index!);
  const item = list.tensors[place];
  if (item !== undefined) return item.clone();
  const known = elementShapeOf(list, givenShape(shape!));
  const element = list.tensors.reduce(
    (merged, other) => (other === undefined ? merged : mergeShapes(merged, other.shape, 'element_shape')),
    known,
  );
  if (isFullyDefined(element)) return tf.zeros([...element], list.elementDtype);
  throw new ValueError('index', 'an element that was written', described(`${place}, of shape ${showShape(element)}`));
}
