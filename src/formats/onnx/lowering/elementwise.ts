/** Ops on each number by itself. */
import type { Shape, Value } from '../../saved_model/graph/value.js';
import { broadcastShape } from '../../saved_model/graph/value.js';
import type { OnnxGraph } from '../graph/onnx_graph.js';
import type { Lowering } from '../graph/lowering.js';

/** An op of the same inputs. */
const same =
  (op: string): Lowering =>
  (g, inputs, parts) =>
    g.op(op, inputs, parts);

const SAME: Readonly<Record<string, string>> = {
  Sqrt: 'Sqrt',
  Reciprocal: 'Reciprocal',
  Exp: 'Exp',
  Log: 'Log',
  Sin: 'Sin',
  Cos: 'Cos',
  Tan: 'Tan',
  Tanh: 'Tanh',
  Sinh: 'Sinh',
  Cosh: 'Cosh',
  Asin: 'Asin',
  Acos: 'Acos',
  Atan: 'Atan',
  Erf: 'Erf',
  Floor: 'Floor',
  Ceil: 'Ceil',
  Sigmoid: 'Sigmoid',
  Abs: 'Abs',
  Neg: 'Neg',
  Sign: 'Sign',
  Relu: 'Relu',
  Elu: 'Elu',
  Selu: 'Selu',
  Softplus: 'Softplus',
  Identity: 'Identity',
  AddV2: 'Add',
  Sub: 'Sub',
  RealDiv: 'Div',
  Pow: 'Pow',
  Maximum: 'Max',
  Minimum: 'Min',
  Equal: 'Equal',
  Greater: 'Greater',
  GreaterEqual: 'GreaterOrEqual',
  Less: 'Less',
  LessEqual: 'LessOrEqual',
  LogicalAnd: 'And',
  BitwiseXor: 'BitwiseXor',
};

/** In double, and back: what is lost near 0 otherwise is kept. */
function inDouble(g: OnnxGraph, x: Value, compute: (x: Value) => Value): Value {
  return g.cast(compute(g.cast(x, 'float64')), 'float32');
}

function double(g: OnnxGraph, op: string, inputs: readonly Value[], shape: Shape): Value {
  return g.op(op, inputs, { dtype: 'float64', shape });
}

/** `a` where the condition holds, else `b`. */
export function where(g: OnnxGraph, condition: Value, a: Value, b: Value): Value {
  const shape = broadcastShape(condition.shape, broadcastShape(a.shape, b.shape));
  if (a.dtype !== 'bool') return g.op('Where', [condition, a, b], { dtype: a.dtype, shape });
  return g.cast(where(g, condition, g.cast(a, 'int32'), g.cast(b, 'int32')), 'bool');
}

/** The remainder with the sign of the divisor, as TensorFlow has it. */
function floorMod(g: OnnxGraph, x: Value, y: Value, shape: Shape): Value {
  const { dtype } = x;
  if (dtype !== 'float32') return g.op('Mod', [x, y], { dtype, shape });
  const rest = g.op('Mod', [x, y], { dtype, shape }, { fmod: { i: 1 } });
  const zero = g.scalar(0);
  const bool = { dtype: 'bool', shape } as const;
  const signs = g.op('Xor', [g.op('Less', [rest, zero], bool), g.op('Less', [y, zero], bool)], bool);
  const isRest = g.op('Not', [g.op('Equal', [rest, zero], bool)], bool);
  return where(g, g.op('And', [signs, isRest], bool), g.op('Add', [rest, y], { dtype, shape }), rest);
}

export const ELEMENTWISE: Readonly<Record<string, Lowering>> = {
  ...Object.fromEntries(Object.entries(SAME).map(([name, op]) => [name, same(op)])),
  Square: (g, [x], parts) => g.op('Mul', [x, x], parts),
  Rsqrt: (g, [x], parts) => g.op('Reciprocal', [g.op('Sqrt', [x], parts)], parts),
  Expm1: (g, [x], { shape }) =>
    inDouble(g, x, (wide) => double(g, 'Sub', [double(g, 'Exp', [wide], shape), g.scalar(1, 'float64')], shape)),
  Log1p: (g, [x], { shape }) =>
    inDouble(g, x, (wide) => double(g, 'Log', [double(g, 'Add', [wide, g.scalar(1, 'float64')], shape)], shape)),
  LeakyRelu: (g, [x], parts) => g.op('LeakyRelu', [x], parts, { alpha: { f: parts.attr['alpha']!.f! } }),
  Softmax: (g, [x], parts) => g.op('Softmax', [x], parts, { axis: { i: -1 } }),
  LogSoftmax: (g, [x], parts) => g.op('LogSoftmax', [x], parts, { axis: { i: -1 } }),
  // Numbers of 64 bits without a sign are multiplied as if they had one: the bits are the same.
  Mul: (g, [x, y], parts) => {
    if (parts.dtype !== 'uint64') return g.op('Mul', [x, y], parts);
    const signed = g.op('Mul', [g.cast(x, 'int64'), g.cast(y, 'int64')], { ...parts, dtype: 'int64' });
    return g.cast(signed, 'uint64');
  },
  RightShift: (g, [x, y], parts) =>
    g.op('BitShift', [x, y], parts, { direction: { s: new TextEncoder().encode('RIGHT') } }),
  Bitcast: (g, [x], { dtype }) => g.cast(x, dtype as 'int64'),
  DivNoNan: (g, [x, y], parts) => {
    const isZero = g.op('Equal', [y, g.scalar(0)], { dtype: 'bool', shape: y.shape });
    const quotient = g.op('Div', [x, where(g, isZero, g.scalar(1), y)], parts);
    return where(g, isZero, g.scalar(0), quotient);
  },
  FloorMod: (g, [x, y], { shape }) => floorMod(g, x, y, shape),
  FloorDiv: (g, [x, y], parts) => {
    const { dtype, shape } = parts;
    if (dtype === 'float32') return g.op('Floor', [g.op('Div', [x, y], parts)], parts);
    return g.op('Div', [g.op('Sub', [x, floorMod(g, x, y, shape)], parts), y], parts);
  },
  NotEqual: (g, [x, y], parts) => g.op('Not', [g.op('Equal', [x, y], parts)], parts),
  Cast: (g, [x], { dtype }) => {
    // Numbers beyond int32 must not become others that are within it.
    if (x.dtype !== 'int64' || dtype !== 'int32') return g.cast(x, dtype as 'int32');
    const bounds = [g.constant([-(2 ** 31)], 'int64', []), g.constant([2 ** 31 - 1], 'int64', [])];
    return g.narrow(g.op('Clip', [x, ...bounds], x));
  },
  SelectV2: (g, [condition, a, b]) => where(g, condition, a, b),
};
