/** Ops that move numbers, and that count them. */
import type { Shape, Value } from '../../saved_model/graph/value.js';
import type { Lowering } from '../graph/lowering.js';
import { tensorOf, type OnnxGraph } from '../graph/onnx_graph.js';
import { where } from './elementwise.js';

const LAST = 2n ** 63n - 1n;

export function unsqueeze(g: OnnxGraph, x: Value, axes: readonly number[], shape: Shape): Value {
  return g.op('Unsqueeze', [x, g.int64s(axes)], { dtype: x.dtype, shape });
}

export function transpose(g: OnnxGraph, x: Value, perm: readonly number[]): Value {
  return g.op(
    'Transpose',
    [x],
    { dtype: x.dtype, shape: perm.map((axis) => x.shape[axis]!) },
    { perm: { ints: perm } },
  );
}

export function gather(g: OnnxGraph, x: Value, at: Value, axis: number, shape: Shape): Value {
  return g.op('Gather', [x, at], { dtype: x.dtype, shape }, { axis: { i: axis } });
}

const slice: Lowering = (g, [x, begin, end], { attr, dtype, shape }) => {
  const [from, to] = [g.numbersOf(begin), g.numbersOf(end)];
  if ((attr['shrink_axis_mask']?.i ?? 0) === 1) {
    // One size of a shape, which ops that take sizes are given as it is.
    const isWhole = dtype === 'int32';
    const item = gather(g, isWhole ? g.wide(x) : x, g.constant([from[0]!], 'int64', []), 0, []);
    return isWhole ? g.narrow(item) : item;
  }
  const isLast = (axis: number): boolean => (((attr['end_mask']?.i ?? 0) >> axis) & 1) === 1;
  const ends = to.map((each, axis) => (isLast(axis) ? LAST : each));
  const axes = from.map((_, axis) => axis);
  return g.op('Slice', [x, g.int64s(from), g.int64s(ends), g.int64s(axes)], { dtype, shape });
};

/** Reversed along axes, as steps backwards. */
const reverse: Lowering = (g, [x, at], parts) => {
  const axes = g.numbersOf(at);
  const all = (value: number | bigint): Value => g.int64s(axes.map(() => value));
  return g.op('Slice', [x, all(-1), all(-LAST), g.int64s(axes), all(-1)], parts);
};

const pack: Lowering = (g, inputs, { attr, dtype, shape }) => {
  const axis = attr['axis']!.i!;
  // Sizes and places stay numbers of 64 bits on their way to ops that take them.
  const isSizes = dtype === 'int32' && shape.length === 1;
  const parts = inputs.map((each) => {
    const x = isSizes ? g.wide(each) : each;
    return unsqueeze(g, x, [axis], [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)]);
  });
  const packed = g.op('Concat', parts, { dtype: isSizes ? 'int64' : dtype, shape }, { axis: { i: axis } });
  return isSizes ? g.narrow(packed) : packed;
};

/** Rows of different lengths, padded to the longest. */
const padded: Lowering = (g, [, values, padding, splits], { dtype }) => {
  const rows = splits.shape[0] === null || splits.shape[0] === undefined ? null : splits.shape[0] - 1;
  const bounds = (from: number, to: number | bigint): Value =>
    g.op('Slice', [splits, g.int64s([from]), g.int64s([to]), g.int64s([0])], { dtype: 'int32', shape: [rows] });
  const [starts, ends] = [bounds(0, -1), bounds(1, LAST)];
  const lengths = g.op('Sub', [ends, starts], { dtype: 'int32', shape: [rows] });
  const zero = g.constant([0], 'int32', [1]);
  const lengthOrNone = g.op('Concat', [lengths, zero], { dtype: 'int32', shape: [null] }, { axis: { i: 0 } });
  const longest = g.op('ReduceMax', [lengthOrNone], { dtype: 'int32', shape: [] }, { keepdims: { i: 0 } });
  const places = g.op('Range', [g.scalar(0, 'int32'), longest, g.scalar(1, 'int32')], {
    dtype: 'int32',
    shape: [null],
  });
  const column = (x: Value): Value => unsqueeze(g, x, [1], [rows, 1]);
  const shape = [rows, null];
  const isIn = g.op('Less', [places, column(lengths)], { dtype: 'bool', shape });
  const at = g.op('Add', [places, column(starts)], { dtype: 'int32', shape });
  // What stands behind the end of a row comes behind all values.
  const count = g.op('Size', [values], { dtype: 'int64', shape: [] });
  const all = g.op('Concat', [values, unsqueeze(g, padding, [0], [1])], { dtype, shape: [null] }, { axis: { i: 0 } });
  return gather(g, all, where(g, isIn, at, g.cast(count, 'int32')), 0, shape);
};

/** Batches of products, of which either matrix may be turned. */
const batchMatMul: Lowering = (g, [a, b], { attr, dtype, shape }) => {
  const turned = (x: Value, isTurned: boolean | undefined): Value => {
    const rank = x.shape.length;
    if (isTurned !== true) return x;
    return transpose(g, x, [...Array.from({ length: rank - 2 }, (_, i) => i), rank - 1, rank - 2]);
  };
  return g.op('MatMul', [turned(a, attr['adj_x']?.b), turned(b, attr['adj_y']?.b)], { dtype, shape });
};

/** How many of ascending numbers are below each number, or not above it. */
const placesIn =
  (isUpper: boolean): Lowering =>
  (g, [sorted, numbers], { shape }) => {
    const [count, n] = [sorted.shape[1]!, numbers.shape[1]!];
    const column = g.op('Reshape', [numbers, g.int64s([-1, 1])], { dtype: numbers.dtype, shape: [n, 1] });
    // NaN belongs behind all of them.
    const isBehind = g.op(isUpper ? 'Greater' : 'GreaterOrEqual', [sorted, column], {
      dtype: 'bool',
      shape: [n, count],
    });
    const behind = g.op(
      'ReduceSum',
      [g.cast(isBehind, 'int32'), g.int64s([1])],
      { dtype: 'int32', shape: [n] },
      { keepdims: { i: 0 } },
    );
    const places = g.op('Sub', [g.scalar(count!, 'int32'), behind], { dtype: 'int32', shape: [n] });
    return unsqueeze(g, places, [0], shape);
  };

export const SHAPES: Readonly<Record<string, Lowering>> = {
  Shape: (g, [x], { shape }) => g.narrow(g.op('Shape', [x], { dtype: 'int64', shape })),
  StridedSlice: slice,
  ReverseV2: reverse,
  Reshape: (g, [x, sizes], parts) => g.op('Reshape', [x, g.wide(sizes)], parts, { allowzero: { i: 1 } }),
  ExpandDims: (g, [x, axis], { shape }) => unsqueeze(g, x, g.numbersOf(axis), shape),
  Squeeze: (g, [x], parts) => g.op('Squeeze', [x, g.int64s(parts.attr['squeeze_dims']!.list!.i!)], parts),
  Transpose: (g, [x, order]) => transpose(g, x, g.numbersOf(order)),
  Pack: pack,
  ConcatV2: (g, inputs, parts) => {
    const [axis] = g.numbersOf(inputs.at(-1)!);
    return g.op('Concat', inputs.slice(0, -1), parts, { axis: { i: axis! } });
  },
  Tile: (g, [x, times], parts) => g.op('Tile', [x, g.wide(times)], parts),
  Pad: (g, [x, widths], parts) => {
    const pairs = g.numbersOf(widths);
    const sides = [0, 1].flatMap((side) => pairs.filter((_, i) => i % 2 === side));
    return g.op('Pad', [x, g.int64s(sides)], parts);
  },
  Fill: (g, [sizes, value], parts) => {
    const number = tensorOf(g.numbersOf(value), parts.dtype as 'float32');
    return g.op('ConstantOfShape', [g.wide(sizes)], parts, { value: { t: number } });
  },
  Range: (g, inputs, parts) => g.op('Range', inputs, parts),
  MatMul: (g, [a, b], parts) => g.op('MatMul', [a, b], parts),
  BatchMatMulV2: batchMatMul,
  Cumsum: (g, [x, axis], parts) => g.op('CumSum', [x, axis], parts),
  GatherV2: (g, [x, at, axis], { shape }) => gather(g, x, at, g.numbersOf(axis)[0]!, shape),
  OneHot: (g, [ids, depth], parts) => {
    const count = g.numbersOf(depth)[0]!;
    const all = g.constant(
      Array.from({ length: count }, (_, i) => i),
      'int32',
      [count],
    );
    const column = unsqueeze(g, ids, [ids.shape.length], [...ids.shape, 1]);
    return g.cast(g.op('Equal', [column, all], { dtype: 'bool', shape: parts.shape }), 'float32');
  },
  LowerBound: placesIn(false),
  UpperBound: placesIn(true),
  RaggedTensorToTensor: padded,
  ReadVariableOp: (g, [handle]) => g.shared.variables.value(g, g.variableOf(handle)),
  ResourceGather: (g, [handle, ids]) => g.shared.variables.rows(g, g.variableOf(handle), ids),
};
