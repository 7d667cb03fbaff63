/** Operations along axes: sums, means, maxima, softmax and what is made of them. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import { typeNamed } from './elementwise.js';
import { largest, smallest } from './extremes.js';
import { asSpec, axesOf, axisOf, tensorOf, type OperandType, type Rule, type Settings } from './operand.js';

function reducedShape(shape: SymbolicShape, { axis, keepdims }: Settings): SymbolicShape {
  const axes = axesOf(axis, shape.length);
  if (keepdims === true) return shape.map((size, i) => (axes.includes(i) ? 1 : size));
  return shape.filter((_, i) => !axes.includes(i));
}

type Reduce = (x: tf.Tensor, axes: number[], keepDims: boolean) => tf.Tensor;

/** `type`: the dtype of the result for that of the operand; the operand is computed in it. */
function reduction(compute: Reduce, type: (dtype: OperandType) => OperandType, isConstant = false): Rule {
  return {
    operands: ['x'],
    settings: { axis: null, keepdims: false },
    spec: ([x], settings) => {
      const { shape, dtype } = asSpec(x!);
      return { shape: reducedShape(shape, settings), dtype: type(dtype) };
    },
    run: ([x], { axis, keepdims }) => {
      const value = tensorOf(x!);
      const wanted = type(value.dtype as OperandType);
      return compute(value.cast(wanted), axesOf(axis, value.rank), keepdims === true).cast(wanted);
    },
    ...(isConstant ? { isConstant } : {}),
  };
}

const own = (dtype: OperandType): OperandType => (dtype === 'bool' ? 'int32' : dtype);
const float = (): OperandType => 'float32';
const bool = (): OperandType => 'bool';

const variance: Reduce = (x, axes, keepDims) => {
  const mean = x.mean(axes, true);
  return x.sub(mean).square().mean(axes, keepDims);
};

function place(compute: (x: tf.Tensor, axis: number) => tf.Tensor): Rule {
  return {
    operands: ['x'],
    settings: { axis: null, keepdims: false },
    spec: ([x], settings) => ({ shape: reducedShape(asSpec(x!).shape, settings), dtype: 'int32' }),
    run: ([x], settings) => {
      const value = tensorOf(x!);
      const { axis } = settings;
      const flat = axis === null ? value.flatten() : value;
      const at = axis === null ? 0 : axisOf(axis, value.rank);
      return compute(flat.toFloat(), at).reshape(reducedShape(value.shape, settings) as number[]);
    },
    isConstant: true,
  };
}

/** The axis of what goes along the last one in tfjs, which is moved there. */
function alongLast(x: tf.Tensor, axis: unknown, compute: (x: tf.Tensor) => tf.Tensor): tf.Tensor {
  const axes = [axis].flat().map((each) => axisOf(each, x.rank));
  if (axes.length === 1 && axes[0] === x.rank - 1) return compute(x);
  const rest = x.shape.map((_, i) => i).filter((i) => !axes.includes(i));
  const order = [...rest, ...axes];
  const moved = x.transpose(order);
  const flat = moved.reshape([...rest.map((i) => x.shape[i]!), -1]);
  return compute(flat)
    .reshape(moved.shape)
    .transpose(x.shape.map((_, i) => order.indexOf(i)));
}

function along(compute: (x: tf.Tensor) => tf.Tensor): Rule {
  return {
    operands: ['x'],
    settings: { axis: -1 },
    spec: ([x], { axis }) => {
      const { shape } = asSpec(x!);
      axesOf(axis, shape.length);
      return { shape, dtype: 'float32' };
    },
    run: ([x], { axis }) => alongLast(tensorOf(x!, 'float32'), axis, compute),
  };
}

const cumsum: Rule = {
  operands: ['x'],
  settings: { axis: null, dtype: null },
  spec: ([x], { axis, dtype }) => {
    const { shape, dtype: given } = asSpec(x!);
    const size = shape.reduce<number | null>((all, each) => (all === null || each === null ? null : all * each), 1);
    if (axis !== null) axisOf(axis, shape.length);
    return { shape: axis === null ? [size] : shape, dtype: dtype === null ? own(given) : typeNamed(dtype) };
  },
  run: ([x], { axis, dtype }) => {
    const value = tensorOf(x!);
    const typed = value.cast(dtype === null ? own(value.dtype as OperandType) : typeNamed(dtype));
    return axis === null ? tf.cumsum(typed.flatten(), 0) : tf.cumsum(typed, axisOf(axis, value.rank));
  },
};

/** x over its norm along the axes; the norm is at least epsilon. */
export function normalized(x: tf.Tensor, axis: unknown, epsilon: number): tf.Tensor {
  const squares = x.square().sum(axesOf(axis, x.rank), true);
  return x.mul(tf.rsqrt(tf.maximum(squares, epsilon * epsilon)));
}

const normalize: Rule = {
  operands: ['x'],
  settings: { axis: -1, order: 2, epsilon: null },
  spec: ([x], { axis, order }) => {
    const { shape } = asSpec(x!);
    axesOf(axis, shape.length);
    if (order !== 2) throw new ValueError('order', '2', order);
    return { shape, dtype: 'float32' };
  },
  run: ([x], { axis, epsilon }) => normalized(tensorOf(x!, 'float32'), axis, (epsilon as number | null) ?? 1e-7),
};

export const REDUCTIONS: Readonly<Record<string, Rule>> = {
  Sum: reduction((x, axes, keepDims) => x.sum(axes, keepDims), own),
  Mean: reduction((x, axes, keepDims) => x.mean(axes, keepDims), float),
  Max: reduction(largest, own),
  Min: reduction(smallest, own),
  Prod: reduction((x, axes, keepDims) => tf.prod(x, axes, keepDims), own),
  Var: reduction(variance, float),
  Std: reduction((x, axes, keepDims) => variance(x, axes, keepDims).sqrt(), float),
  Any: reduction((x, axes, keepDims) => tf.any(x, axes, keepDims), bool, true),
  All: reduction((x, axes, keepDims) => tf.all(x, axes, keepDims), bool, true),
  Logsumexp: reduction((x, axes, keepDims) => tf.logSumExp(x, axes, keepDims), float),
  Argmax: place((x, axis) => tf.argMax(x, axis)),
  Argmin: place((x, axis) => tf.argMin(x, axis)),
  Softmax: along((x) => tf.softmax(x)),
  LogSoftmax: along((x) => tf.logSoftmax(x)),
  Cumsum: cumsum,
  Normalize: normalize,
};
