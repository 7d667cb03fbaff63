/** The tensor lists of tfjs-converter, which it keeps for its own ops. A list is known by the tensor that stands for it. */
import type * as tf from '@tensorflow/tfjs';

/** What ops of this package need of a list. */
export interface StockTensorList {
  /** Places that nobody wrote are empty. */
  readonly tensors: (tf.Tensor | undefined)[];
  /** -1: unknown rank; sizes of -1 are unknown. */
  readonly elementShape: number | readonly number[];
  readonly elementDtype: tf.DataType;
  readonly maxNumElements: number;
  readonly idTensor: tf.Tensor;
}

type Maker = new (
  tensors: readonly (tf.Tensor | undefined)[],
  elementShape: StockTensorList['elementShape'],
  elementDtype: tf.DataType,
  maxNumElements: number,
) => StockTensorList;

function listsOf(node: tf.GraphNode): Record<number, StockTensorList | undefined> {
  return (node as unknown as { context: { tensorListMap: Record<number, StockTensorList> } }).context.tensorListMap;
}

/** The list that a tensor stands for; undefined where it stands for none. */
export function findTensorList(handle: tf.Tensor, node: tf.GraphNode): StockTensorList | undefined {
  return listsOf(node)[handle.id];
}

/** A list of these tensors, otherwise like `list`; returns the tensor that stands for it. The run frees it. */
export function makeTensorList(
  list: StockTensorList,
  tensors: readonly (tf.Tensor | undefined)[],
  node: tf.GraphNode,
): tf.Tensor {
  const List = list.constructor as Maker;
  const made = new List(tensors, list.elementShape, list.elementDtype, list.maxNumElements);
  listsOf(node)[made.idTensor.id] = made;
  return made.idTensor;
}
