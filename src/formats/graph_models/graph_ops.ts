/** All ops that this package registers. */
import * as tf from '@tensorflow/tfjs';
import { runOperation } from './run_operation.js';
import { CROSS_OPS } from './crosses.js';
import { EMBEDDING_OPS } from './embedding_ops.js';
import { type GraphOp, graphOp } from './graph_op.js';
import { ARITHMETIC_OPS } from './mended/arithmetic.js';
import { BATCH_NORMALIZATION_OPS } from './mended/batch_normalization.js';
import { CAST_OPS } from './mended/casts.js';
import { DIAGONAL_OPS } from './mended/diagonals.js';
import { LOSS_OPS } from './mended/losses.js';
import { withNumberTypes } from './mended/number_types.js';
import { MOVING_OPS } from './mended/moves.js';
import { OTHER_MENDED_OPS } from './mended/others.js';
import { PRODUCT_OPS } from './mended/products.js';
import { QUANTIZATION_OPS } from './mended/quantization.js';
import { REDUCTION_OPS } from './mended/reductions.js';
import { TEXT_OPS } from './mended/texts.js';
import { WINDOW_OPS } from './mended/windows.js';
import { OPERATIONS } from './operations.js';
import { BRANCH_OPS } from './resources/branches.js';
import { LIST_SUM_OPS } from './resources/list_sums.js';
import { LOOKUP_OPS } from './resources/lookup_ops.js';
import { RAGGED_VARIANT_OPS } from './resources/ragged_variants.js';
import { STACK_OPS } from './resources/stack_ops.js';
import { TENSOR_ARRAY_OPS } from './resources/tensor_array_ops.js';
import { TENSOR_LIST_OPS } from './resources/tensor_list_ops.js';
import { VARIABLE_OPS } from './resources/variable_ops.js';
import { ValueError, described } from '../../base/errors.js';
import { nodeName, textAttribute } from '../../tfjs/graph_models/graph_run.js';

type Gradient = (known: tf.Tensor, gradient: tf.Tensor) => tf.Tensor;

/** By op: the gradient of the input, from the forward op's output `y` and the gradient of that. */
const OF_OUTPUTS: Readonly<Record<string, Gradient>> = {
  SqrtGrad: (y, dy) => tf.div(tf.mul(dy, 0.5), y),
  RsqrtGrad: (y, dy) => tf.mul(tf.mul(dy, -0.5), tf.mul(y, tf.square(y))),
  TanhGrad: (y, dy) => tf.mul(dy, tf.sub(1, tf.square(y))),
  SigmoidGrad: (y, dy) => tf.mul(dy, tf.mul(y, tf.sub(1, y))),
  ReciprocalGrad: (y, dy) => tf.neg(tf.mul(dy, tf.square(y))),
  InvGrad: (y, dy) => tf.neg(tf.mul(dy, tf.square(y))),
};

/** By op: the gradient of the input, from the input itself, or the output where the op's definition says so. */
const OF_FEATURES: Readonly<Record<string, readonly [called: string, run: Gradient]>> = {
  ReluGrad: ['features', (x, dy) => tf.where(tf.greater(x, 0), dy, tf.zerosLike(dy))],
  EluGrad: ['outputs', (y, dy) => tf.where(tf.less(y, 0), tf.mul(dy, tf.add(y, 1)), dy)],
  SoftplusGrad: ['features', (x, dy) => tf.mul(dy, tf.sigmoid(x))],
};

const GRADIENT_OPS: readonly GraphOp[] = [
  ...Object.entries(OF_OUTPUTS).map(([name, run]) =>
    graphOp(`${name}(y: T, dy: T) -> z: T`, ([y, dy]) => tf.tidy(() => run(y!, dy!))),
  ),
  ...Object.entries(OF_FEATURES).map(([name, [called, run]]) =>
    graphOp(`${name}(gradients: T, ${called}: T) -> backprops: T`, ([dy, x]) => tf.tidy(() => run(x!, dy!))),
  ),
  // Makes loops of gradients wait for one another; what comes after it waits anyway.
  graphOp('ControlTrigger() -> ', () => tf.scalar(0)),
];

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

/** The tensor as it is, where all its numbers are numbers. */
function checkNumerics([x]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const stray = x!.dataSync().findIndex((value: number) => !Number.isFinite(value));
  if (stray < 0) return x!.clone();
  const received = described(`${x!.dataSync()[stray]}: ${textAttribute(node, 'message')}`);
  throw new ValueError(nodeName(node), 'finite numbers, as this node of the graph asserts', received);
}

const CHECK_OPS: readonly GraphOp[] = [
  graphOp('CheckNumerics(tensor: T) -> output: T', checkNumerics),
  graphOp('CheckNumericsV2(tensor: T) -> output: T', checkNumerics),
  graphOp('Assert(condition: bool, data: T * T) -> ', check),
  graphOp('BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T', broadcastAxes),
];

const plainOps = [...OPERATIONS.values()].map((op): GraphOp => ({
  signature: op.signature,
  run: (inputs, node) => runOperation(op, inputs, node.attrs),
}));

/** By name. */
export const GRAPH_OPS: ReadonlyMap<string, GraphOp> = new Map(
  withNumberTypes([
    ...plainOps,
    ...TENSOR_ARRAY_OPS,
    ...TENSOR_LIST_OPS,
    ...LIST_SUM_OPS,
    ...STACK_OPS,
    ...EMBEDDING_OPS,
    ...VARIABLE_OPS,
    ...BRANCH_OPS,
    ...LOOKUP_OPS,
    ...RAGGED_VARIANT_OPS,
    ...CHECK_OPS,
    ...GRADIENT_OPS,
    ...ARITHMETIC_OPS,
    ...REDUCTION_OPS,
    ...CAST_OPS,
    ...MOVING_OPS,
    ...PRODUCT_OPS,
    ...TEXT_OPS,
    ...CROSS_OPS,
    ...DIAGONAL_OPS,
    ...LOSS_OPS,
    ...WINDOW_OPS,
    ...BATCH_NORMALIZATION_OPS,
    ...QUANTIZATION_OPS,
    ...OTHER_MENDED_OPS,
  ]).map((op) => [op.signature.name, op]),
);
