/** Sums and zeros of tensor lists, which gradients through loops add up as they do tensors. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { findObject } from './handles.js';
import { TensorList, handleOf, listOf, ownElements, zerosOf } from './tensor_list.js';

/** Whether a node works on lists; numbers of int32 alone do not tell. */
function isOfLists({ attrs }: tf.GraphNode, first: tf.Tensor): boolean {
  return (attrs['T'] ?? null) === null && findObject(first, TensorList) !== null;
}

/** Unwritten elements stay unwritten. */
function zeroList(list: TensorList, node: tf.GraphNode): tf.Tensor {
  const written = list.elements.map((each) => each && zerosOf(each.shape, list.dtype));
  ownElements(
    written.filter((each) => each !== undefined),
    node,
  );
  return handleOf(list.with(written), node);
}

/** Element by element; an unwritten one adds nothing. */
function sumOfLists(lists: readonly TensorList[], node: tf.GraphNode): tf.Tensor {
  const [first] = lists as [TensorList];
  const { length } = first.elements;
  const odd = lists.find(({ elements }) => elements.length !== length);
  if (odd !== undefined) {
    throw new ValueError('inputs', `lists of ${length} elements`, described(`one of ${odd.elements.length}`));
  }
  const sums = first.elements.map((_, at) => {
    const written = lists.flatMap(({ elements }) => elements[at] ?? []);
    return written.length === 0 ? undefined : tf.tidy(() => tf.addN(written).clone());
  });
  ownElements(
    sums.filter((each) => each !== undefined),
    node,
  );
  const shape = lists.reduce((merged, list) => list.mergedShape(merged), first.elementShape);
  return handleOf(new TensorList(sums, shape, first.dtype, first.mostElements), node);
}

export const LIST_SUM_OPS: readonly GraphOp[] = [
  graphOp('ZerosLike(x: T) -> y: T', ([x], node) =>
    isOfLists(node, x!) ? zeroList(listOf(x), node) : tf.tidy(() => zerosOf(x!.shape, x!.dtype)),
  ),
  graphOp('AddN(inputs: T * N) -> sum: T', (inputs, node) =>
    isOfLists(node, inputs[0]!)
      ? sumOfLists(
          inputs.map((each) => listOf(each, 'inputs')),
          node,
        )
      : tf.tidy(() => tf.addN(inputs).clone()),
  ),
];
