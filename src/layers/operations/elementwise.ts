/** Operations on each number by itself, with the broadcasting and dtypes of Keras. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import { absolute } from './extremes.js';
import {
  asSpec,
  broadcast,
  meetingType,
  tensorOf,
  type Operand,
  type OperandType,
  type Rule,
  type Settings,
  type Spec,
} from './operand.js';

type Unary = (x: tf.Tensor, settings: Settings) => tf.Tensor;
type Binary = (a: tf.Tensor, b: tf.Tensor) => tf.Tensor;

function unary(compute: Unary, given: Partial<Rule> & { readonly result?: OperandType | 'same' } = {}): Rule {
  const { result = 'float32', ...rest } = given;
  return {
    operands: ['x'],
    settings: {},
    spec: ([x]) => {
      const { shape, dtype } = asSpec(x!);
      return { shape, dtype: result === 'same' ? dtype : result };
    },
    run: ([x], settings) => {
      // As floats, but for what keeps its dtype or asks the numbers themselves.
      const value = tensorOf(x!, result === 'float32' ? 'float32' : undefined);
      return compute(value, settings);
    },
    ...rest,
  };
}

const same = (compute: Unary, rest: Partial<Rule> = {}): Rule => unary(compute, { result: 'same', ...rest });

const specs = (operands: readonly Operand<tf.Tensor>[]): Operand<Spec>[] => operands as Operand<Spec>[];

function joined(operands: readonly Operand<Spec>[]): Spec['shape'] {
  return operands.map((each) => asSpec(each).shape).reduce(broadcast);
}

/** `as`: the dtype in which operands are computed, `result`: that of the result; else that in which they meet. */
function binary(compute: Binary, as?: OperandType, result?: OperandType): Rule {
  const met = (operands: readonly Operand<Spec>[]): OperandType => {
    const dtype = meetingType(operands);
    return as ?? (dtype === 'bool' && result === undefined ? 'int32' : dtype);
  };
  return {
    operands: ['x1', 'x2'],
    settings: {},
    spec: (operands) => ({ shape: joined(operands), dtype: result ?? met(operands) }),
    run: (operands) => {
      const dtype = met(specs(operands));
      const [a, b] = operands.map((each) => tensorOf(each, dtype)) as [tf.Tensor, tf.Tensor];
      return compute(a, b);
    },
    ...(result === 'bool' ? { isConstant: true } : {}),
  };
}

const comparison = (compute: Binary): Rule => binary(compute, undefined, 'bool');
const logical = (compute: Binary): Rule => binary(compute, 'bool', 'bool');

/** Of whole numbers too, which some kernels compare only as floats. */
function asFloats(compute: Binary): Binary {
  return (a, b) => (a.dtype === 'float32' ? compute(a, b) : compute(a.toFloat(), b.toFloat()).cast(a.dtype));
}

/** Backends whose rests of whole numbers are exact; GPUs compute with floats. */
const EXACT = ['cpu', 'wasm', 'tensorflow'];

const whole = (value: number): tf.Scalar => tf.scalar(value, 'int32');

/** The rest, with the sign of `b`. */
const mod: Binary = (a, b) => {
  if (!EXACT.includes(tf.getBackend())) return asFloats(tf.mod)(a, b);
  // `cpu` casts whole numbers to floats without rounding them.
  return a.dtype === 'int32' ? tf.mod(a, b) : tf.mod(a.mul(1), b.mul(1));
};

/** `wasm` divides whole numbers as floats (tfjs 4.22), which is a little off; the rest tells by how much. */
const floorDivide: Binary = (a, b) => {
  // Of floats `cpu` makes whole numbers (tfjs 4.22).
  if (a.dtype !== 'int32') return tf.floor(tf.div(a, b));
  if (tf.getBackend() !== 'wasm') return tf.floorDiv(a, b);
  const about = tf.floorDiv(a, b);
  // What is left is a few times `b`.
  const left = a.sub(about.mul(b)).sub(tf.mod(a, b));
  return about.add(tf.round(left.toFloat().div(b.toFloat())).cast('int32'));
};

/** Products, of whole numbers their lower 32 bits: `cpu` multiplies them as doubles, which lose these beyond 2^53. */
const product: Binary = (a, b) => {
  if (a.dtype !== 'int32' || tf.getBackend() !== 'cpu') return tf.mul(a, b);
  const half = whole(2 ** 16);
  return tf.floorDiv(a, half).mul(b).mul(half).add(tf.mod(a, half).mul(b));
};

/** Powers of whole numbers, of which the lower 32 bits count. */
function wholePower(base: tf.Tensor, exponent: tf.Tensor): tf.Tensor {
  let [result, factor, rest] = [tf.onesLike(base).add(tf.zerosLike(exponent)), base, exponent];
  for (let bit = 0; bit < 31; bit++) {
    const half = floorDivide(rest, whole(2));
    // 1 where the bit is not set.
    result = product(
      result,
      rest
        .sub(half.mul(whole(2)))
        .mul(factor.sub(whole(1)))
        .add(whole(1)),
    );
    factor = product(factor, factor);
    rest = half;
  }
  return result;
}

const power: Binary = (a, b) => (a.dtype === 'float32' ? tf.pow(a, b) : wholePower(a, b));

/** Whole numbers have no powers below 0. */
const powers: Rule = {
  ...binary(power),
  spec: (operands) => {
    const [, exponent] = operands;
    if (typeof exponent === 'number' && exponent < 0 && meetingType(operands) !== 'float32')
      throw new ValueError('x2', 'an exponent of at least 0 for whole numbers', exponent);
    return binary(power).spec(operands, {});
  },
};

function number(settings: Settings, name: string): number {
  const value = settings[name];
  if (typeof value !== 'number') throw new ValueError(name, 'a number', value);
  return value;
}

const erfGelu = (x: tf.Tensor): tf.Tensor => x.mul(0.5).mul(tf.erf(x.mul(Math.SQRT1_2)).add(1));
const tanhGelu = (x: tf.Tensor): tf.Tensor =>
  x.mul(0.5).mul(tf.tanh(x.add(x.square().mul(x).mul(0.044715)).mul(Math.sqrt(2 / Math.PI))).add(1));

/** The dtype by one of Keras's names; longer whole numbers and floats are those that tfjs has. */
export function typeNamed(name: unknown, argument = 'dtype'): OperandType {
  if (name === 'bool') return 'bool';
  if (typeof name === 'string' && /^(float(16|32|64)|bfloat16)$/.test(name)) return 'float32';
  if (typeof name === 'string' && /^u?int(8|16|32|64)$/.test(name)) return 'int32';
  throw new ValueError(argument, `'float32', 'int32' or 'bool'`, name);
}

const filled = (value: number): Rule => ({
  operands: ['x'],
  settings: { dtype: null },
  spec: ([x], { dtype }) => {
    const own = asSpec(x!);
    return { shape: own.shape, dtype: dtype === null ? own.dtype : typeNamed(dtype) };
  },
  run: ([x], { dtype }) => {
    const own = tensorOf(x!);
    return tf.fill(own.shape, value, dtype === null ? (own.dtype as OperandType) : typeNamed(dtype));
  },
  isConstant: true,
});

const where: Rule = {
  operands: ['condition', 'x1', 'x2'],
  settings: {},
  spec: ([condition, a, b]) => ({
    shape: joined([condition!, a!, b!]),
    dtype: meetingType([a!, b!]),
  }),
  run: ([condition, ...both]) => {
    const dtype = meetingType(specs(both));
    const [a, b] = both.map((each) => tensorOf(each, dtype)) as [tf.Tensor, tf.Tensor];
    return tf.where(tensorOf(condition!, 'bool'), a, b);
  },
};

const clip: Rule = {
  operands: ['x'],
  settings: { xMin: null, xMax: null },
  spec: ([x]) => asSpec(x!),
  run: ([x], settings) => {
    const value = tensorOf(x!);
    const bound = (name: string, none: number): number => (settings[name] === null ? none : number(settings, name));
    const [low, high] = [bound('xMin', -Infinity), bound('xMax', Infinity)];
    if (value.dtype !== 'int32') return tf.clipByValue(value.toFloat(), low, high).cast(value.dtype);
    // Floats hold no whole numbers beyond 2^24.
    const within = (limit: number): tf.Scalar => whole(Math.min(Math.max(limit, -(2 ** 31)), 2 ** 31 - 1));
    return tf.minimum(tf.maximum(value, within(Math.ceil(low))), within(Math.floor(high)));
  },
};

/** By the name of Keras's class. */
export const ELEMENTWISE: Readonly<Record<string, Rule>> = {
  Add: binary(tf.add),
  Subtract: binary(tf.sub),
  Multiply: binary(product),
  Divide: binary(tf.div, 'float32'),
  TrueDivide: binary(tf.div, 'float32'),
  FloorDivide: binary(floorDivide),
  Mod: binary(mod),
  Power: powers,
  Maximum: binary(tf.maximum),
  Minimum: binary(tf.minimum),
  Equal: comparison(tf.equal),
  NotEqual: comparison(tf.notEqual),
  Greater: comparison(tf.greater),
  GreaterEqual: comparison(tf.greaterEqual),
  Less: comparison(tf.less),
  LessEqual: comparison(tf.lessEqual),
  LogicalAnd: logical(tf.logicalAnd),
  LogicalOr: logical(tf.logicalOr),
  LogicalXor: logical(tf.logicalXor),
  LogicalNot: unary((x) => tf.logicalNot(x.cast('bool')), { result: 'bool', isConstant: true }),
  Isnan: unary((x) => tf.isNaN(x.toFloat()), { result: 'bool', isConstant: true }),
  Isinf: unary((x) => tf.isInf(x.toFloat()), { result: 'bool', isConstant: true }),
  Isfinite: unary((x) => tf.isFinite(x.toFloat()), { result: 'bool', isConstant: true }),
  Abs: same(absolute),
  Absolute: same(absolute),
  Negative: same(tf.neg),
  Sign: same((x) => tf.sign(x.toFloat()).cast(x.dtype)),
  Square: same((x) => x.mul(x)),
  Copy: same((x) => x.clone()),
  ConvertToTensor: same((x) => x.clone()),
  StopGradient: same((x) => x.clone(), { isConstant: true }),
  Sqrt: unary(tf.sqrt),
  Rsqrt: unary(tf.rsqrt),
  Reciprocal: unary(tf.reciprocal),
  Exp: unary(tf.exp),
  Expm1: unary(tf.expm1),
  Log: unary(tf.log),
  Log1p: unary(tf.log1p),
  Log2: unary((x) => tf.log(x).mul(Math.LOG2E)),
  Log10: unary((x) => tf.log(x).mul(Math.LOG10E)),
  Sin: unary(tf.sin),
  Cos: unary(tf.cos),
  Tan: unary(tf.tan),
  Tanh: unary(tf.tanh),
  Sinh: unary(tf.sinh),
  Cosh: unary(tf.cosh),
  Arcsin: unary(tf.asin),
  Arccos: unary(tf.acos),
  Arctan: unary(tf.atan),
  Erf: unary(tf.erf),
  Floor: unary(tf.floor),
  Ceil: unary(tf.ceil),
  Relu: same(tf.relu),
  Relu6: unary(tf.relu6),
  Sigmoid: unary(tf.sigmoid),
  LogSigmoid: unary((x) => tf.neg(tf.softplus(tf.neg(x)))),
  HardSigmoid: unary((x) => tf.relu6(x.add(3)).div(6)),
  HardSilu: unary((x) => x.mul(tf.relu6(x.add(3)).div(6))),
  Softplus: unary(tf.softplus),
  Softsign: unary((x) => x.div(tf.abs(x).add(1))),
  Silu: unary((x) => x.mul(tf.sigmoid(x))),
  Mish: unary((x) => x.mul(tf.tanh(tf.softplus(x)))),
  Selu: unary(tf.selu),
  Elu: unary((x, settings) => tf.relu(x).add(tf.expm1(tf.minimum(x, 0)).mul(number(settings, 'alpha'))), {
    settings: { alpha: 1 },
  }),
  LeakyRelu: unary((x, settings) => tf.leakyRelu(x, number(settings, 'negativeSlope')), {
    settings: { negativeSlope: 0.2 },
  }),
  Gelu: unary((x, { approximate }) => (approximate === false ? erfGelu(x) : tanhGelu(x)), {
    settings: { approximate: true },
  }),
  Clip: clip,
  Where: where,
  OnesLike: filled(1),
  ZerosLike: filled(0),
  Cast: {
    operands: ['x'],
    settings: { dtype: 'float32' },
    spec: ([x], { dtype }) => ({ shape: asSpec(x!).shape, dtype: typeNamed(dtype) }),
    run: ([x], { dtype }) => tensorOf(x!, typeNamed(dtype)).clone(),
  },
};
