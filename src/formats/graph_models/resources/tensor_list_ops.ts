/** Ops of tensor lists: how they are made, changed and read. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readInt32 } from '../../../ids/values.js';
import { isFullyDefined, showShape } from '../../../lookup/tensor_array/partial_shape.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { handlesFor, objectsOfKind } from './handles.js';
import { concatList, concatListV2, splitIntoList } from './list_rows.js';
import {
  TensorList,
  checkWhole,
  elementDtype,
  givenShape,
  handleOf,
  listOf,
  ownElement,
  ownElements,
  typedListOf,
  wholeIn,
  zerosOf,
  type Elements,
} from './tensor_list.js';

type Inputs = (tf.Tensor | undefined)[];

function emptyList([shape, most]: Inputs, node: tf.GraphNode): tf.Tensor {
  const numbers = wholeIn(most, 'max_num_elements', -1, 2 ** 31 - 1);
  return handleOf(new TensorList([], givenShape(shape), elementDtype(node), numbers), node);
}

/** Elements of which none was written. */
const unwritten = (count: number): Elements => new Array<undefined>(count).fill(undefined);

function reserve([shape, count]: Inputs, node: tf.GraphNode): tf.Tensor {
  const elements = unwritten(wholeIn(count, 'num_elements', 0));
  return handleOf(new TensorList(elements, givenShape(shape), elementDtype(node)), node);
}

function resize([handle, size]: Inputs, node: tf.GraphNode): tf.Tensor {
  const list = listOf(handle);
  const { elements } = list;
  const count = wholeIn(size, 'size', 0);
  const rest = unwritten(Math.max(0, count - elements.length));
  return handleOf(list.with([...elements.slice(0, count), ...rest]), node);
}

/** Row i of a tensor as element i; ValueError for rows that the list does not take. */
function rowsOf(tensor: tf.Tensor, list: TensorList, node: tf.GraphNode): tf.Tensor[] {
  if (tensor.rank === 0) throw new ValueError('tensor', 'at least a vector', tensor);
  if (tensor.dtype !== list.dtype) throw new ValueError('tensor', `dtype ${list.dtype}, that of the list`, tensor);
  list.mergedShape(tensor.shape.slice(1));
  return tensor.shape[0] === 0 ? [] : ownElements(tf.unstack(tensor), node);
}

function fromTensor([tensor, shape]: Inputs, node: tf.GraphNode): tf.Tensor {
  const list = new TensorList([], givenShape(shape), elementDtype(node));
  return handleOf(list.with(rowsOf(tensor!, list, node)), node);
}

/** The list with row i of a tensor at `indices[i]`, grown where that is needed. */
function scattered(list: TensorList, tensor: tf.Tensor, indices: tf.Tensor, node: tf.GraphNode): TensorList {
  const at = readInt32(indices, 'indices');
  const rows = rowsOf(tensor, list, node);
  if (at.length !== rows.length) {
    throw new ValueError('indices', `${rows.length} indices, one per row`, described(`${at.length}`));
  }
  const negative = at.find((index) => index < 0);
  if (negative !== undefined) throw new ValueError('indices', 'indices of at least 0', negative);
  const most = at.reduce((last, index) => Math.max(last, index), -1);
  const size = checkWhole(most, 'indices', -1) + 1;
  const elements = [...list.elements, ...unwritten(Math.max(0, size - list.elements.length))];
  at.forEach((index, i) => (elements[index] = rows[i]));
  return list.with(elements);
}

function scatter([tensor, indices, shape, count]: Inputs, node: tf.GraphNode): tf.Tensor {
  const given = count === undefined ? -1 : wholeIn(count, 'num_elements', -1);
  const list = new TensorList(unwritten(Math.max(0, given)), givenShape(shape), elementDtype(node));
  const filled = scattered(list, tensor!, indices!, node);
  if (given < 0 || filled.elements.length === given) return handleOf(filled, node);
  throw new ValueError('indices', `indices below ${given}, the number of elements`, filled.elements.length - 1);
}

function scatterIntoExisting([handle, tensor, indices]: Inputs, node: tf.GraphNode): tf.Tensor {
  return handleOf(scattered(listOf(handle), tensor!, indices!, node), node);
}

function elementShape([handle]: Inputs): tf.Tensor {
  const { elementShape: shape } = listOf(handle);
  const sizes = shape?.map((size) => size ?? -1);
  return sizes === undefined ? tf.scalar(-1, 'int32') : tf.tensor1d(sizes, 'int32');
}

function setItem([handle, index, item]: Inputs, node: tf.GraphNode): tf.Tensor {
  const list = typedListOf(handle, node);
  const { length } = list.elements;
  const grows = node.attrs['resize_if_index_out_of_bounds'] === true;
  const place = grows ? wholeIn(index, 'index', 0) : wholeIn(index, 'index', 0, length - 1);
  const elements = [...list.elements, ...unwritten(Math.max(0, place + 1 - length))];
  elements[place] = ownElement(item!, list, node);
  return handleOf(list.with(elements), node);
}

/** An unwritten element is all zeros, of the shape that the others have. */
function getItem([handle, index, shape]: Inputs, node: tf.GraphNode): tf.Tensor {
  const list = typedListOf(handle, node);
  const place = wholeIn(index, 'index', 0, list.elements.length - 1);
  const item = list.elements[place];
  if (item !== undefined) return item.clone();
  const common = list.commonShape(givenShape(shape));
  if (isFullyDefined(common)) return zerosOf(common, list.dtype);
  throw new ValueError('index', 'an element that was written', described(`${place}, of shape ${showShape(common)}`));
}

function pushed(list: TensorList, item: tf.Tensor, node: tf.GraphNode): TensorList {
  if (list.elements.length === list.mostElements) {
    throw new ValueError('input_handle', 'a list with room', described(`one of ${list.mostElements}, which is full`));
  }
  return list.with([...list.elements, ownElement(item, list, node)]);
}

/** One row for each of several lists. */
function pushBackBatch([handles, tensor]: Inputs, node: tf.GraphNode): tf.Tensor {
  const lists = objectsOfKind(handles!, TensorList, 'input_handles');
  if (tensor!.shape[0] !== lists.length) throw new ValueError('tensor', `${lists.length} rows, one per list`, tensor);
  const rows = lists.length === 0 ? [] : tf.unstack(tensor!);
  const made = lists.map((list, i) => pushed(list, rows[i]!, node));
  tf.dispose(rows);
  for (const list of made) handleOf(list, node).dispose();
  return handlesFor(made, handles!.shape);
}

function popBack([handle, shape]: Inputs, node: tf.GraphNode): tf.Tensor[] {
  const list = typedListOf(handle, node);
  const { elements } = list;
  if (elements.length === 0) throw new ValueError('input_handle', 'a list with elements', described('an empty one'));
  const common = elements[elements.length - 1]?.shape ?? list.commonShape(givenShape(shape));
  if (!isFullyDefined(common)) {
    throw new ValueError('element_shape', 'a shape of which all sizes are known', described(showShape(common)));
  }
  const item = elements[elements.length - 1]?.clone() ?? zerosOf(common, list.dtype);
  return [handleOf(list.with(elements.slice(0, -1)), node), item];
}

function stack([handle, shape]: Inputs, node: tf.GraphNode): tf.Tensor {
  const list = typedListOf(handle, node);
  const { length } = list.elements;
  const wanted = Number(node.attrs['num_elements'] ?? -1);
  if (wanted !== -1 && wanted !== length) {
    throw new ValueError('input_handle', `a list of ${wanted} elements`, described(`one of ${length}`));
  }
  return list.stacked(
    list.elements.map((_, i) => i),
    givenShape(shape),
  );
}

function gather([handle, indices, shape]: Inputs, node: tf.GraphNode): tf.Tensor {
  const list = typedListOf(handle, node);
  const places = Array.from(readInt32(indices, 'indices'));
  const stray = places.find((place) => place < 0 || place >= list.elements.length);
  if (stray !== undefined) throw new ValueError('indices', `indices in [0, ${list.elements.length})`, stray);
  return list.stacked(places, givenShape(shape));
}

/** The elements of one list, then those of the other. */
function concatLists([first, second]: Inputs, node: tf.GraphNode): tf.Tensor {
  const [a, b] = [listOf(first, 'input_a'), listOf(second, 'input_b')];
  if (a.dtype === b.dtype) return handleOf(a.with([...a.elements, ...b.elements]), node);
  throw new ValueError('input_b', `a list of ${a.dtype}, as input_a`, described(`one of ${b.dtype}`));
}

export const TENSOR_LIST_OPS: readonly GraphOp[] = [
  graphOp('EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> handle: variant', emptyList),
  graphOp('TensorListReserve(element_shape: shape_type, num_elements: int32) -> handle: variant', reserve),
  graphOp('TensorListResize(input_handle: variant, size: int32) -> output_handle: variant', resize),
  graphOp('TensorListLength(input_handle: variant) -> length: int32', ([handle]) =>
    tf.scalar(listOf(handle).elements.length, 'int32'),
  ),
  graphOp('TensorListElementShape(input_handle: variant) -> element_shape: shape_type', elementShape),
  graphOp(
    'TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> output_handle: variant',
    fromTensor,
  ),
  graphOp(
    'TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> output_handle: variant',
    scatter,
  ),
  graphOp(
    'TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32) -> ' +
      'output_handle: variant',
    scatter,
  ),
  graphOp(
    'TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> ' +
      'output_handle: variant',
    scatterIntoExisting,
  ),
  graphOp('TensorListConcat(input_handle: variant) -> tensor: element_dtype, lengths: int64', concatList),
  graphOp(
    'TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> ' +
      'tensor: element_dtype, lengths: int64',
    concatListV2,
  ),
  graphOp(
    'TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> output_handle: variant',
    splitIntoList,
  ),
  graphOp(
    'TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> output_handle: variant',
    setItem,
  ),
  graphOp(
    'TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> item: element_dtype',
    getItem,
  ),
  graphOp(
    'TensorListPushBack(input_handle: variant, tensor: element_dtype) -> output_handle: variant',
    ([handle, item], node) => handleOf(pushed(typedListOf(handle, node), item!, node), node),
  ),
  graphOp(
    'TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> output_handles: variant',
    pushBackBatch,
  ),
  graphOp(
    'TensorListPopBack(input_handle: variant, element_shape: int32) -> output_handle: variant, tensor: element_dtype',
    popBack,
  ),
  graphOp(
    'TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> values: element_dtype',
    gather,
  ),
  graphOp('TensorListStack(input_handle: variant, element_shape: int32) -> tensor: element_dtype', stack),
  graphOp('TensorListConcatLists(input_a: variant, input_b: variant) -> output: variant', concatLists),
];
