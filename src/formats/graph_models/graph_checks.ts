/** Ops that graphs hold beside those of embeddings: checks, and shapes for gradients. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { nodeName } from '../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from './graph_op.js';

/** Values of each tensor that a failed check shows. */
const SHOWN = 6;

/** Throws unless the condition holds; what nodes that come after it read has no meaning. */
function check([condition, ...data]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  if (condition!.dataSync()[0] === 0) {
    const told = data.map((tensor) => Array.from(tensor.dataSync().slice(0, SHOWN)).join(', ')).join(' | ');
    throw new ValueError(nodeName(node), 'what this node of the graph asserts', described(told));
  }
  return tf.scalar(0);
}

/** The axes over which gradients of two operands are summed, because the forward op broadcast them. */
function broadcastAxes([first, second]: tf.Tensor[]): tf.Tensor[] {
  const shapes = [first!, second!].map((shape) => Array.from(shape.dataSync()));
  const rank = Math.max(...shapes.map(({ length }) => length));
  const padded = shapes.map((shape) => [...new Array<number>(rank - shape.length).fill(1), ...shape]);
  const [a, b] = padded as [number[], number[]];
  const isBad = a.findIndex((size, axis) => size !== b[axis] && size !== 1 && b[axis] !== 1);
  if (isBad >= 0) throw new ValueError('s1', `a shape that broadcasts with [${shapes[0]!.join(', ')}]`, shapes[1]);
  const isSame = a.every((size, axis) => size === b[axis]);
  const summed = padded.map((own) => (isSame ? [] : own.flatMap((size, axis) => (size === 1 ? [axis] : []))));
  return summed.map((axes) => tf.tensor1d(axes, 'int32'));
}

export const CHECK_OPS: readonly GraphOp[] = [
  graphOp('Assert(condition: bool, data: T * T) -> ', check),
  graphOp('BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T', broadcastAxes),
];
