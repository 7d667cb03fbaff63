/** Ops of tensor lists that tfjs-converter lacks, on the lists that it makes. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../errors.js';
import { readInt32 } from '../../ragged/values.js';
import { findTensorList, makeTensorList, type StockTensorList } from '../../tfjs_patches/graph_models/tensor_lists.js';
import { graphOp, type GraphOp } from '../graph_op.js';

function listOf(handle: tf.Tensor, node: tf.GraphNode): StockTensorList {
  const found = findTensorList(handle, node);
  if (found !== undefined) return found;
  throw new ArgumentTypeError('input_handle', 'the handle of a tensor list', described('another tensor'));
}

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
  graphOp('TensorListConcatLists(input_a: variant, input_b: variant) -> output: variant', concatLists),
];
