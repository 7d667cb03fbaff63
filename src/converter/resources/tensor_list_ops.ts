/** Ops of tensor lists that tfjs-converter lacks, or has for elements of one shape alone, on the lists that it makes. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../errors.js';
import { readInt32 } from '../../ragged/values.js';
import { makeTensorList } from '../../tfjs_patches/graph_models/tensor_lists.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { getItem, pushBack, setItem } from './list_elements.js';
import { listOf } from './list_handle.js';
import { concatList, concatListV2, splitIntoList } from './list_rows.js';

function elementShape([handle]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const { elementShape: shape } = listOf(handle!, node);
  return typeof shape === 'number' ? tf.scalar(shape, 'int32') : tf.tensor1d([...shape], 'int32');
}

/** Row i at `indices[i]`; a list that is too short grows. */
function scatterIntoExisting([handle, value, indices]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const list = listOf(handle!, node);
  const at = readInt32(indices, 'indices');
  const rows = value!.shape[0];
  if (value!.dtype !== list.elementDtype) {
    throw new ValueError('tensor', `dtype ${list.elementDtype}, that of the list`, value);
  }
  if (rows === undefined) throw new ValueError('tensor', 'at least a vector', value);
  if (at.length !== rows) throw new ValueError('indices', `${rows} indices, one per row`, described(`${at.length}`));
  const negative = at.find((index) => index < 0);
  if (negative !== undefined) throw new ValueError('indices', 'indices of at least 0', negative);
  const tensors = [...list.tensors];
  if (rows > 0) tf.unstack(value!).forEach((row, i) => (tensors[at[i]!] = row));
  return makeTensorList(list, tensors, node);
}

/** The elements of one list, then those of the other. */
function concatLists([first, second]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const [a, b] = [listOf(first!, node), listOf(second!, node)];
  if (a.elementDtype !== b.elementDtype) {
    throw new ValueError('input_b', `a list of ${a.elementDtype}, as input_a`, described(`one of ${b.elementDtype}`));
  }
  return makeTensorList(a, [...a.tensors, ...b.tensors], node);
}

export const TENSOR_LIST_OPS: readonly GraphOp[] = [
  graphOp('TensorListElementShape(input_handle: variant) -> element_shape: shape_type', elementShape),
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
  graphOp('TensorListPushBack(input_handle: variant, tensor: element_dtype) -> output_handle: variant', pushBack),
  graphOp(
    'TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> item: element_dtype',
    getItem,
  ),
  graphOp('TensorListConcatLists(input_a: variant, input_b: variant) -> output: variant', concatLists),
];
