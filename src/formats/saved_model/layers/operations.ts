/** Operations of Keras between layers. */
import { isRecord } from '../../../base/options.js';
import {
  asSpec,
  axesOf,
  axisOf,
  meetingType,
  type Operand,
  type OperandType,
  type Settings,
  type Spec,
} from '../../../layers/operations/operand.js';
import { Operation } from '../../../layers/operations/operation.js';
import { typeNamed } from '../../../layers/operations/elementwise.js';
import type { Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';

/** One operation as ops: `operands` are values, numbers and lists of them. */
type Emit = (call: LayerCall, operands: readonly unknown[], settings: Settings) => Value | Value[];

const isValue = (value: unknown): value is Value => isRecord(value) && 'ref' in value;

function asValue({ o }: LayerCall, operand: unknown, dtype: OperandType): Value {
  if (isValue(operand)) return o.cast(operand, dtype);
  return o.graph.constant([dtype === 'bool' ? Number(Boolean(operand)) : Number(operand)], dtype as 'float32', []);
}

const specs = (operands: readonly unknown[]): Operand<Spec>[] => operands as Operand<Spec>[];

/** Ops of one value by the name of the operation, in float32. */
const UNARY: Readonly<Record<string, string>> = {
  Sqrt: 'Sqrt',
  Rsqrt: 'Rsqrt',
  Reciprocal: 'Reciprocal',
  Exp: 'Exp',
  Expm1: 'Expm1',
  Log: 'Log',
  Log1p: 'Log1p',
  Sin: 'Sin',
  Cos: 'Cos',
  Tan: 'Tan',
  Tanh: 'Tanh',
  Sinh: 'Sinh',
  Cosh: 'Cosh',
  Arcsin: 'Asin',
  Arccos: 'Acos',
  Arctan: 'Atan',
  Erf: 'Erf',
  Floor: 'Floor',
  Ceil: 'Ceil',
  Sigmoid: 'Sigmoid',
};

/** Those that keep the dtype. */
const SAME: Readonly<Record<string, string>> = {
  Abs: 'Abs',
  Absolute: 'Abs',
  Negative: 'Neg',
  Sign: 'Sign',
  Square: 'Square',
};

const BINARY: Readonly<Record<string, string>> = {
  Add: 'AddV2',
  Subtract: 'Sub',
  Multiply: 'Mul',
  FloorDivide: 'FloorDiv',
  Mod: 'FloorMod',
  Power: 'Pow',
  Maximum: 'Maximum',
  Minimum: 'Minimum',
};

const COMPARED = ['Equal', 'NotEqual', 'Greater', 'GreaterEqual', 'Less', 'LessEqual'];

const unary =
  (op: string, keepsType: boolean): Emit =>
  (call, [x]) => {
    const { dtype } = asSpec(x as Operand<Spec>);
    return call.o.unary(op, asValue(call, x, keepsType ? dtype : 'float32'));
  };

function met(call: LayerCall, operands: readonly unknown[], as?: OperandType): [Value, Value] {
  const dtype = as ?? meetingType(specs(operands));
  return operands.map((each) => asValue(call, each, dtype)) as [Value, Value];
}

const binary =
  (op: string, as?: OperandType): Emit =>
  (call, operands) => {
    const dtype = as ?? meetingType(specs(operands));
    return call.o.binary(op, ...met(call, operands, dtype === 'bool' ? 'int32' : dtype));
  };

type Reduction = Parameters<LayerCall['o']['reduce']>[0];

const reduced =
  (op: Reduction, as: OperandType | null): Emit =>
  (call, [x], { axis, keepdims }) => {
    const { shape, dtype } = asSpec(x as Operand<Spec>);
    const value = asValue(call, x, as ?? (dtype === 'bool' ? 'int32' : dtype));
    return call.o.reduce(op, value, axesOf(axis, shape.length), keepdims === true);
  };

const moved =
  (order: (rank: number, settings: Settings) => number[]): Emit =>
  ({ o }, [x], settings) =>
    o.transpose(x as Value, order((x as Value).shape.length, settings));

function counting(rank: number): number[] {
  return Array.from({ length: rank }, (_, i) => i);
}

/** Whole axes and places, or ranges by steps of 1: what slices of TensorFlow's ops here take. */
const getItem: Emit = (call, [given, key]) => {
  const { o } = call;
  const x = given as Value;
  const parts = (Array.isArray(key) ? key : [key]) as unknown[];
  const at = parts.findIndex((part) => isRecord(part) && part['ellipsis'] === true);
  const taken = parts.filter((part, i) => part !== null && i !== at).length;
  const whole = Array.from({ length: x.shape.length - taken }, () => ({}));
  const all = at < 0 ? [...parts, ...whole] : [...parts.slice(0, at), ...whole, ...parts.slice(at + 1)];
  const own = all.filter((part) => part !== null);
  const begin: number[] = [];
  const end: (number | null)[] = [];
  for (const part of own) {
    if (typeof part === 'number') {
      begin.push(part);
      end.push(part === -1 ? null : part + 1);
      continue;
    }
    const { start = null, stop = null, step = null } = part as Record<string, number | null>;
    if (step !== null && step !== 1) throw call.refuse('whose slices have steps');
    begin.push(start ?? 0);
    end.push(stop);
  }
  const taking = o.slice(x, begin, end);
  // What a range takes of an axis of any size is known only when the graph runs.
  const known = (size: number | null, axis: number): number | null => {
    if (typeof own[axis] === 'number') return 1;
    return x.shape[axis] === null ? null : size;
  };
  const sliced = { ...taking, shape: taking.shape.map(known) };
  const shape = call.outputShape();
  // Axes of which one place was taken go, new ones come.
  let axis = 0;
  const sizes = all.flatMap((part) => {
    if (part === null) return [1];
    const size = shapeSize(sliced, axis++);
    return typeof part === 'number' ? [] : [size ?? o.sizeAt(sliced, axis - 1)];
  });
  return o.reshape(sliced, sizes, shape);
};

function shapeSize({ shape }: Value, axis: number): number | null {
  return shape[axis]!;
}

const EMITS: Readonly<Record<string, Emit>> = {
  ...Object.fromEntries(Object.entries(UNARY).map(([name, op]) => [name, unary(op, false)])),
  ...Object.fromEntries(Object.entries(SAME).map(([name, op]) => [name, unary(op, true)])),
  ...Object.fromEntries(Object.entries(BINARY).map(([name, op]) => [name, binary(op)])),
  ...Object.fromEntries(
    COMPARED.map((name): [string, Emit] => [
      name,
      (call, operands) => call.o.binary(name, ...met(call, operands), 'bool'),
    ]),
  ),
  Divide: binary('RealDiv', 'float32'),
  TrueDivide: binary('RealDiv', 'float32'),
  LogicalAnd: (call, operands) => call.o.and(...met(call, operands, 'bool')),
  Relu: (call, [x]) => call.o.maximum(x as Value, 0),
  Copy: (_, [x]) => x as Value,
  ConvertToTensor: (_, [x]) => x as Value,
  StopGradient: (_, [x]) => x as Value,
  Cast: (call, [x], { dtype }) => call.o.cast(x as Value, typeNamed(dtype)),
  Where: (call, [condition, ...both]) => call.o.where(asValue(call, condition, 'bool'), ...met(call, both)),
  OnesLike: (call, [x], { dtype }) => likeOf(call, x as Value, dtype, 1),
  ZerosLike: (call, [x], { dtype }) => likeOf(call, x as Value, dtype, 0),
  Sum: reduced('Sum', null),
  Mean: reduced('Mean', 'float32'),
  Max: reduced('Max', null),
  Min: reduced('Min', null),
  Prod: reduced('Prod', null),
  Any: reduced('Any', 'bool'),
  All: reduced('All', 'bool'),
  Cumsum: (call, [x], { axis }) => {
    const { o } = call;
    const value = (x as Value).dtype === 'bool' ? o.cast(x as Value, 'int32') : (x as Value);
    if (axis === null) throw call.refuse('which sums up along no axis');
    return o.cumsum(value, axisOf(axis, value.shape.length));
  },
  Softmax: (call, [x], { axis }) => {
    const rank = (x as Value).shape.length;
    if (axesOf(axis, rank).join() !== String(rank - 1)) throw call.refuse('whose axis is not the last one');
    return call.o.unary('Softmax', call.o.cast(x as Value, 'float32'), 'softmax');
  },
  Concatenate: (call, [list], { axis }) => call.o.concat(list as Value[], axis as number),
  Stack: (call, [list], { axis }) => call.o.pack(list as Value[], axis as number),
  ExpandDims: (call, [x], { axis }) => {
    const value = x as Value;
    const axes = axesOf(axis, value.shape.length + [axis].flat().length).sort((a, b) => a - b);
    return axes.reduce((each, at) => call.o.expandDims(each, at), value);
  },
  Squeeze: (call, [x], { axis }) => {
    const { shape } = x as Value;
    const ones = shape.flatMap((size, i) => (size === 1 ? [i] : []));
    return call.o.squeeze(x as Value, axis === null ? ones : axesOf(axis, shape.length));
  },
  Reshape: (call, [x]) => {
    const shape = call.outputShape();
    const unknown = shape.filter((size) => size === null).length;
    if (unknown > 1) throw call.refuse('whose shape is not known');
    return call.o.reshape(x as Value, [...shape], shape);
  },
  Transpose: moved((rank, { axes }) => (axes === null ? counting(rank).reverse() : axesOf(axes, rank))),
  Swapaxes: moved((rank, { axis1, axis2 }) => {
    const [a, b] = [axisOf(axis1, rank), axisOf(axis2, rank)];
    return counting(rank).map((i) => (i === a ? b : i === b ? a : i));
  }),
  GetItem: getItem,
  Matmul: (call, operands) => {
    const [a, b] = met(call, operands, 'float32');
    if (a.shape.length < 2 || b.shape.length < 2) throw call.refuse('of a vector');
    return b.shape.length === 2 ? call.o.dot(a, b) : call.o.batchMatMul(a, b);
  },
};

function likeOf(call: LayerCall, x: Value, dtype: unknown, value: number): Value {
  const { o } = call;
  const filled = o.fill(o.sizesOf(x), value, x.shape);
  return o.cast(filled, dtype === null ? (x.dtype as OperandType) : typeNamed(dtype));
}

const operation: Emitter = (call) => {
  const { operation: name, operands, settings } = call.layer as Operation;
  if (!Object.hasOwn(EMITS, name)) throw call.refuse(`whose operation ${name} is not written as ops yet`);
  const fill = (template: unknown): unknown => {
    if (Array.isArray(template)) return template.map(fill);
    if (!isRecord(template)) return template;
    if (Number.isInteger(template['tensor'])) return call.inputs[template['tensor'] as number];
    if (!('value' in template)) return template;
    const values = ([template['value']].flat(Infinity) as (number | boolean)[]).map(Number);
    const shape: number[] = [];
    for (let each: unknown = template['value']; Array.isArray(each); each = each[0]) shape.push(each.length);
    return call.o.graph.constant(values, template['dtype'] as 'float32', shape);
  };
  const isList = name === 'Concatenate' || name === 'Stack';
  const given = operands === null ? (isList ? [call.inputs] : call.inputs) : (fill(operands) as unknown[]);
  return EMITS[name]!(call, given, settings);
};

/** Operations that are written. */
export const WRITTEN_OPERATIONS: readonly string[] = Object.keys(EMITS);

export const OPERATION_LAYERS: Readonly<Record<string, Emitter>> = { [Operation.className]: operation };
