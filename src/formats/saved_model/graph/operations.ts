/** Stock TensorFlow ops as functions of values. */
import { type, type GraphVariable } from './function_builder.js';
import type { GraphBuilder } from './graph_builder.js';
import { broadcastShape, frontAxis, sizeOf, type Shape, type Value } from './value.js';

type Reduction = 'Sum' | 'Mean' | 'Max' | 'Min' | 'Prod' | 'Any' | 'All';
type Number_ = number | Value;

/** Types from the least to the most. */
const ORDER: readonly string[] = ['bool', 'int32', 'float32'];
/** Ops of one value that take whole numbers; all others are of floats. */
const WHOLE_OPS = ['Abs', 'Identity', 'Neg', 'Relu', 'Relu6', 'Sign', 'Square'];

/** A size of a new shape; a value where it is known only when the graph runs. */
export type Size = number | null | Value;

export class Operations {
  constructor(readonly graph: GraphBuilder) {}

  /** The value of a variable. */
  read(variable: GraphVariable): Value {
    const { dtype, shape } = variable;
    return this.graph.node('ReadVariableOp', [this.graph.resource(variable)], {
      attr: { dtype: type(dtype) },
      dtype,
      shape,
      output: 'value',
    });
  }

  /** A value as one of numbers: ops take no truths. */
  #asNumbers(x: Value): Value {
    return x.dtype === 'bool' ? this.cast(x, 'int32') : x;
  }

  /** Values in the dtype in which they meet, as tfjs has it: whole numbers become floats where one of them is. */
  #met(values: readonly Value[]): Value[] {
    const known = values.every(({ dtype }) => ORDER.includes(dtype));
    if (!known) return [...values];
    const most = Math.max(...values.map(({ dtype }) => ORDER.indexOf(dtype)));
    return values.map((value) => this.cast(value, ORDER[most] as 'float32'));
  }

  /** An elementwise op of two values, in the type in which they meet. */
  binary(op: string, a: Number_, b: Number_, result?: 'bool', output = 'z'): Value {
    const isLogical = result === 'bool' && typeof a !== 'number' && typeof b !== 'number';
    const [x, y] = this.#met(this.#numbers(a, b).map((each) => (isLogical ? each : this.#asNumbers(each)))) as [
      Value,
      Value,
    ];
    const shape = broadcastShape(x.shape, y.shape);
    return this.graph.node(op, [x, y], { attr: { T: type(x.dtype) }, dtype: result ?? x.dtype, shape, output });
  }

  /** Both as values; a number has the type of the other one, but for a fraction beside whole numbers. */
  #numbers(a: Number_, b: Number_): [Value, Value] {
    const of = (given: Number_, other: Number_): Value => {
      if (typeof given !== 'number') return given;
      const { dtype } = other as Value;
      const isFloat = !Number.isInteger(given) || !['int32', 'int64', 'bool'].includes(dtype);
      return this.graph.scalar(given, isFloat ? 'float32' : dtype === 'int64' ? ('int64' as 'int32') : 'int32');
    };
    return [of(a, b), of(b, a)];
  }

  add(a: Number_, b: Number_): Value {
    return this.binary('AddV2', a, b);
  }

  sub(a: Number_, b: Number_): Value {
    return this.binary('Sub', a, b);
  }

  mul(a: Number_, b: Number_): Value {
    return this.binary('Mul', a, b);
  }

  div(a: Number_, b: Number_): Value {
    return this.binary('RealDiv', this.#asFloat(a), this.#asFloat(b));
  }

  divNoNan(a: Value, b: Value): Value {
    return this.binary('DivNoNan', this.#asFloat(a), this.#asFloat(b));
  }

  #asFloat<T extends Number_>(x: T): T | Value {
    return typeof x === 'number' ? x : this.cast(x, 'float32');
  }

  maximum(a: Number_, b: Number_): Value {
    return this.binary('Maximum', a, b);
  }

  minimum(a: Number_, b: Number_): Value {
    return this.binary('Minimum', a, b);
  }

  compare(op: 'Greater' | 'GreaterEqual' | 'Less' | 'LessEqual' | 'Equal' | 'NotEqual', a: Value, b: Number_): Value {
    return this.binary(op, a, b, 'bool');
  }

  and(a: Value, b: Value): Value {
    return this.graph.node('LogicalAnd', [a, b], {
      dtype: 'bool',
      shape: broadcastShape(a.shape, b.shape),
      output: 'z',
    });
  }

  /** An op of one value that keeps shape and type. `output`: its name in the op's definition. */
  unary(op: string, given: Value, output = 'y', attr = {}): Value {
    const x = WHOLE_OPS.includes(op) ? this.#asNumbers(given) : this.cast(given, 'float32');
    return this.graph.node(op, [x], { attr: { T: type(x.dtype), ...attr }, dtype: x.dtype, shape: x.shape, output });
  }

  cast(x: Value, dtype: 'float32' | 'int32' | 'bool' | 'int64'): Value {
    if (x.dtype === dtype) return x;
    return this.graph.node('Cast', [x], {
      attr: { SrcT: type(x.dtype), DstT: type(dtype) },
      dtype,
      shape: x.shape,
      output: 'y',
    });
  }

  /** `a` where the condition holds, else `b`; they broadcast. */
  where(condition: Value, yes: Value, no: Value): Value {
    const [a, b] = this.#met([yes, no]) as [Value, Value];
    const shape = broadcastShape(condition.shape, broadcastShape(a.shape, b.shape));
    return this.graph.node('SelectV2', [condition, a, b], { attr: { T: type(a.dtype) }, dtype: a.dtype, shape });
  }

  ints(values: readonly number[]): Value {
    return this.graph.constant(values, 'int32', [values.length]);
  }

  /** The shape as int32 [rank]. */
  shapeOf(x: Value): Value {
    return this.graph.node('Shape', [x], {
      attr: { T: type(x.dtype), out_type: type('int32') },
      dtype: 'int32',
      shape: [x.shape.length],
    });
  }

  /** The size of an axis as an int32 scalar. */
  sizeAt(x: Value, axis: number): Value {
    const at = frontAxis(axis, x.shape.length);
    const known = x.shape[at]!;
    if (known !== null) return this.graph.scalar(known, 'int32');
    return this.item(this.shapeOf(x), at);
  }

  /** One item of a vector. */
  item(vector: Value, at: number): Value {
    return this.graph.node('StridedSlice', [vector, this.ints([at]), this.ints([at + 1]), this.ints([1])], {
      attr: { T: type(vector.dtype), Index: type('int32'), shrink_axis_mask: { i: 1 } },
      dtype: vector.dtype,
      shape: [],
    });
  }

  /** Elements [begin, end) of the first axes; null: as far as it goes. */
  slice(x: Value, begin: readonly number[], end: readonly (number | null)[]): Value {
    const endMask = end.reduce<number>((mask, each, axis) => (each === null ? mask | (1 << axis) : mask), 0);
    const shape = x.shape.map((size, axis) => {
      if (axis >= begin.length) return size;
      const [from, to] = [begin[axis]!, end[axis]!];
      if (size !== null) return Math.max(0, placeOf(to ?? size, size) - placeOf(from, size));
      return to !== null && from < 0 === to < 0 ? to - from : null;
    });
    const inputs = [x, this.ints(begin), this.ints(end.map((each) => each ?? 0)), this.ints(begin.map(() => 1))];
    const attr = { T: type(x.dtype), Index: type('int32'), end_mask: { i: endMask } };
    return this.graph.node('StridedSlice', inputs, { attr, dtype: x.dtype, shape });
  }

  /** A vector of sizes. At most one may be null, which is what remains. */
  sizes(sizes: readonly Size[]): Value {
    if (sizes.every((size) => size === null || typeof size === 'number')) {
      return this.ints(sizes.map((size) => (size as number | null) ?? -1));
    }
    return this.pack(
      sizes.map((size) => (size === null || typeof size === 'number' ? this.graph.scalar(size ?? -1, 'int32') : size)),
      0,
    );
  }

  reshape(x: Value, sizes: readonly Size[], shape?: Shape): Value {
    const known = shape ?? sizes.map((size) => (typeof size === 'number' ? size : null));
    return this.graph.node('Reshape', [x, this.sizes(sizes)], {
      attr: { T: type(x.dtype), Tshape: type('int32') },
      dtype: x.dtype,
      shape: known,
    });
  }

  /** The sizes of these axes of a value, as a new shape takes them. */
  sizesOf(x: Value, from = 0, to = x.shape.length): Size[] {
    return x.shape.slice(from, to).map((size, i) => size ?? this.sizeAt(x, from + i));
  }

  expandDims(x: Value, axis: number): Value {
    const at = axis < 0 ? axis + x.shape.length + 1 : axis;
    return this.graph.node('ExpandDims', [x, this.graph.scalar(at, 'int32')], {
      attr: { T: type(x.dtype), Tdim: type('int32') },
      dtype: x.dtype,
      shape: [...x.shape.slice(0, at), 1, ...x.shape.slice(at)],
    });
  }

  squeeze(x: Value, axes: readonly number[]): Value {
    const at = axes.map((axis) => frontAxis(axis, x.shape.length));
    return this.graph.node('Squeeze', [x], {
      attr: { T: type(x.dtype), squeeze_dims: { list: { i: at } } },
      dtype: x.dtype,
      shape: x.shape.filter((_, axis) => !at.includes(axis)),
    });
  }

  transpose(x: Value, order: readonly number[]): Value {
    return this.graph.node('Transpose', [x, this.ints(order)], {
      attr: { T: type(x.dtype), Tperm: type('int32') },
      dtype: x.dtype,
      shape: order.map((axis) => x.shape[axis]!),
      output: 'y',
    });
  }

  pack(given: readonly Value[], axis: number): Value {
    const values = this.#met(given);
    const [first] = values as [Value];
    const at = axis < 0 ? axis + first.shape.length + 1 : axis;
    return this.graph.node('Pack', values, {
      attr: { T: type(first.dtype), N: { i: values.length }, axis: { i: at } },
      dtype: first.dtype,
      shape: [...first.shape.slice(0, at), values.length, ...first.shape.slice(at)],
    });
  }

  concat(given: readonly Value[], axis: number): Value {
    const values = this.#met(given);
    const [first] = values as [Value];
    // The op takes two at least.
    if (values.length === 1) return first;
    const at = frontAxis(axis, first.shape.length);
    const size = sizesSum(values.map(({ shape }) => shape[at]!));
    return this.graph.node('ConcatV2', [...values, this.graph.scalar(at, 'int32')], {
      attr: { T: type(first.dtype), N: { i: values.length }, Tidx: type('int32') },
      dtype: first.dtype,
      shape: first.shape.map((each, i) => (i === at ? size : each)),
    });
  }

  /** Parts of equal size. */
  split(x: Value, parts: number, axis: number): Value[] {
    const at = frontAxis(axis, x.shape.length);
    const size = x.shape[at]!;
    const shape = x.shape.map((each, i) => (i === at && size !== null ? size / parts : each));
    const attr = { T: type(x.dtype), num_split: { i: parts } };
    const inputs = [this.graph.scalar(at, 'int32'), x];
    return this.graph.nodeOfMany(
      'Split',
      inputs,
      attr,
      'output',
      Array(parts).fill({ dtype: x.dtype, shape }) as Value[],
    );
  }

  reduce(op: Reduction, given: Value, axes: readonly number[], keepDims = false): Value {
    const isLogical = op === 'Any' || op === 'All';
    const x = isLogical ? given : op === 'Mean' ? this.cast(given, 'float32') : this.#asNumbers(given);
    const at = axes.map((axis) => frontAxis(axis, x.shape.length));
    const shape = x.shape.flatMap((size, axis) => (!at.includes(axis) ? [size] : keepDims ? [1] : []));
    const attr = { Tidx: type('int32'), keep_dims: { b: keepDims } };
    return this.graph.node(op, [x, this.ints(at)], {
      attr: x.dtype === 'bool' ? attr : { ...attr, T: type(x.dtype) },
      dtype: x.dtype,
      shape,
    });
  }

  /** Of matrices. */
  matMul(left: Value, right: Value): Value {
    const [a, b] = this.#met([left, right].map((each) => this.#asNumbers(each))) as [Value, Value];
    return this.graph.node('MatMul', [a, b], {
      attr: { T: type(a.dtype) },
      dtype: a.dtype,
      shape: [a.shape[0]!, b.shape[1]!],
      output: 'product',
    });
  }

  batchMatMul(left: Value, right: Value, adjA = false, adjB = false): Value {
    const [a, b] = this.#met([left, right].map((each) => this.#asNumbers(each))) as [Value, Value];
    const rows = a.shape.at(adjA ? -1 : -2)!;
    const columns = b.shape.at(adjB ? -2 : -1)!;
    return this.graph.node('BatchMatMulV2', [a, b], {
      attr: { T: type(a.dtype), adj_x: { b: adjA }, adj_y: { b: adjB } },
      dtype: a.dtype,
      shape: [...broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2)), rows, columns],
    });
  }

  /** The last axis of x times a matrix, whatever the rank of x. */
  dot(x: Value, matrix: Value): Value {
    const dim = x.shape.at(-1)!;
    if (x.shape.length === 2) return this.matMul(x, matrix);
    const flat = this.matMul(this.reshape(x, [null, dim]), matrix);
    const units = matrix.shape[1]!;
    const sizes = this.sizesOf(x, 0, x.shape.length - 1);
    return this.reshape(flat, [...sizes, units], [...x.shape.slice(0, -1), units]);
  }

  /** The `k` largest numbers of each row of a matrix, and where they stand, int32. */
  topK(x: Value, k: number): [values: Value, indices: Value] {
    const shape = [x.shape[0]!, k];
    const attr = { T: type(x.dtype), sorted: { b: true } };
    const parts = [
      { dtype: x.dtype, shape },
      { dtype: 'int32', shape },
    ] as const;
    const count = this.graph.scalar(k, 'int32');
    return this.graph.nodeOfMany('TopKV2', [x, count], attr, ['values', 'indices'], parts) as [Value, Value];
  }

  /** Rows of `params`, or elements along another axis. */
  gather(params: Value, indices: Value, axis = 0): Value {
    const shape = [...params.shape.slice(0, axis), ...indices.shape, ...params.shape.slice(axis + 1)];
    return this.graph.node('GatherV2', [params, indices, this.graph.scalar(axis, 'int32')], {
      attr: { Tparams: type(params.dtype), Tindices: type(indices.dtype), Taxis: type('int32') },
      dtype: params.dtype,
      shape,
    });
  }

  /** Rows of a variable, of which no copy is made. `ids`: whether some may be negative, which is an error when it runs. */
  gatherRows(table: GraphVariable, given: Value, ids: 'any' | 'positive' = 'positive'): Value {
    const at = ids === 'any' ? this.graph.checkedIds(given, table.shape[0]!) : given;
    return this.graph.node('ResourceGather', [this.graph.resource(table), at], {
      attr: { dtype: type(table.dtype), Tindices: type(at.dtype), validate_indices: { b: true } },
      dtype: table.dtype,
      shape: [...at.shape, ...table.shape.slice(1)],
    });
  }

  /** Sums from the first to each along an axis. */
  cumsum(x: Value, axis: number): Value {
    return this.graph.node('Cumsum', [x, this.graph.scalar(axis, 'int32')], {
      attr: { T: type(x.dtype), Tidx: type('int32') },
      dtype: x.dtype,
      shape: x.shape,
      output: 'out',
    });
  }

  /** 0, 1, 2 and so on, as many as an axis is long. */
  places(x: Value, axis: number): Value {
    const bounds = [this.graph.scalar(0, 'int32'), this.sizeAt(x, axis), this.graph.scalar(1, 'int32')];
    const shape = [x.shape[frontAxis(axis, x.shape.length)]!];
    return this.graph.node('Range', bounds, { attr: { Tidx: type('int32') }, dtype: 'int32', shape });
  }

  /** Vectors of `depth` with 1 at an int32 id; zeros for an id outside. */
  oneHot(ids: Value, depth: number): Value {
    const values = [this.graph.scalar(depth, 'int32'), this.graph.scalar(1), this.graph.scalar(0)];
    return this.graph.node('OneHot', [ids, ...values], {
      attr: { T: type('float32'), TI: type('int32'), axis: { i: -1 } },
      dtype: 'float32',
      shape: [...ids.shape, depth],
    });
  }

  fill(sizes: readonly Size[], value: number, shape?: Shape): Value {
    const known = shape ?? sizes.map((size) => (typeof size === 'number' ? size : null));
    return this.graph.node('Fill', [this.sizes(sizes), this.graph.scalar(value)], {
      attr: { T: type('float32'), index_type: type('int32') },
      dtype: 'float32',
      shape: known,
    });
  }

  tile(x: Value, times: readonly Size[], shape: Shape): Value {
    return this.graph.node('Tile', [x, this.sizes(times)], {
      attr: { T: type(x.dtype), Tmultiples: type('int32') },
      dtype: x.dtype,
      shape,
    });
  }

  reverse(x: Value, axes: readonly number[]): Value {
    return this.graph.node('ReverseV2', [x, this.ints(axes.map((axis) => frontAxis(axis, x.shape.length)))], {
      attr: { T: type(x.dtype), Tidx: type('int32') },
      dtype: x.dtype,
      shape: x.shape,
    });
  }

  /** Numbers of rows on each side of each axis are added, zeros. */
  pad(x: Value, widths: readonly (readonly [number, number])[]): Value {
    const table = this.graph.constant(widths.flat(), 'int32', [widths.length, 2]);
    return this.graph.node('Pad', [x, table], {
      attr: { T: type(x.dtype), Tpaddings: type('int32') },
      dtype: x.dtype,
      shape: x.shape.map((size, axis) => (size === null ? null : size + widths[axis]![0] + widths[axis]![1])),
    });
  }

  clip(x: Value, low: number, high: number): Value {
    return this.minimum(this.maximum(x, low), high);
  }

  /** Flattens all but the first axis. */
  flatten(x: Value): Value {
    const size = sizeOf(x.shape.slice(1));
    return size === null ? this.reshape(x, [this.sizeAt(x, 0), null]) : this.reshape(x, [null, size]);
  }
}

/** A place of an axis counted from its front, as slices have it. */
function placeOf(at: number, size: number): number {
  return Math.min(size, Math.max(0, at < 0 ? at + size : at));
}

function sizesSum(sizes: Shape): number | null {
  return sizes.reduce<number | null>((sum, size) => (sum === null || size === null ? null : sum + size), 0);
}
