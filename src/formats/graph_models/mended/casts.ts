/** Casts of graphs. What is cast to a type that tfjs lacks has the values of that type, in a wider one. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../../base/errors.js';
import { INT32_MAX, INT32_MIN } from '../../../base/types.js';
import { typeAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { int32Array, readValues } from '../host_array.js';

/** The nearest number of so many bits, ties to even. */
function rounded(value: number, bits: number, leastExponent: number, largest: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const size = Math.abs(value);
  const unit = 2 ** (Math.max(leastExponent, Math.floor(Math.log2(size))) - bits);
  const whole = Math.floor(size / unit);
  const rest = size / unit - whole;
  const up = rest > 0.5 || (rest === 0.5 && whole % 2 === 1);
  const near = (whole + Number(up)) * unit;
  return Math.sign(value) * (near > largest ? Infinity : near);
}

/** Floats of types that tfjs calls float32. */
export const FLOATS: Readonly<Record<string, (value: number) => number>> = {
  DT_HALF: (value) => rounded(value, 10, -14, 65504),
  DT_BFLOAT16: (value) => rounded(value, 7, -126, 3.3895313892515355e38),
};

/** Whole numbers of types that tfjs calls int32, which wrap. */
export const NARROW_INTEGERS: Readonly<Record<string, (value: number) => number>> = {
  DT_INT8: (value) => (value << 24) >> 24,
  DT_UINT8: (value) => value & 0xff,
  DT_INT16: (value) => (value << 16) >> 16,
  DT_UINT16: (value) => value & 0xffff,
};

/** What does not fit is the least number, as in C. */
const int32Of = (value: number): number => (value >= INT32_MIN && value <= INT32_MAX ? value : INT32_MIN);

/** Others may be beyond int32. What fits neither int32 nor uint32 depends on the machine in TensorFlow, and stays too large. */
const INTEGERS: Readonly<Record<string, (value: number) => number>> = {
  DT_INT32: int32Of,
  DT_INT64: Number,
  DT_UINT32: (value) => (value >= INT32_MIN && value < 2 ** 32 ? value >>> 0 : value),
  DT_UINT64: (value) => (value < 0 ? value + 2 ** 64 : value),
};

/** Narrow integers are the lower bits of int32. */
function integersOf(type: string): (value: number) => number {
  const [narrow, wide] = [NARROW_INTEGERS[type], INTEGERS[type]];
  if (narrow !== undefined) return (value) => narrow(int32Of(value));
  if (wide !== undefined) return wide;
  throw new ValueError(
    'DstT',
    'truth values, floats of 16 to 64 bits, integers of 8 to 64 bits or complex numbers',
    type,
  );
}

/** What an op gave is not yet rounded to its type. */
function cast([x]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const source = FLOATS[typeAttribute(node, 'SrcT')];
  if (source === undefined || x!.dtype !== 'float32') return castTo(x!, typeAttribute(node, 'DstT'));
  return tf.tidy(() =>
    castTo(tf.tensor(Float32Array.from(x!.dataSync(), source), x!.shape), typeAttribute(node, 'DstT')),
  );
}

function castTo(x: tf.Tensor, type: string): tf.Tensor {
  const { dtype, shape } = x;
  if (dtype === 'string') throw new ArgumentTypeError('x', 'numbers or truth values', x);
  if (type === 'DT_BOOL') return tf.tidy(() => tf.notEqual(x, tf.zerosLike(x)));
  if (type.startsWith('DT_COMPLEX')) return tf.cast(x, 'complex64');
  if (/^DT_(FLOAT|DOUBLE)$/.test(type)) return tf.cast(x, 'float32');
  // Truth values would keep their bytes under the name of int32 on `cpu`.
  if (dtype === 'int32' && /^DT_INT(32|64)$/.test(type)) return tf.cast(x, 'int32');
  const given = readValues(tf.backend(), x, 'x') as Float32Array;
  const float = FLOATS[type];
  if (float !== undefined) return tf.tensor(Float32Array.from(given, float), shape, 'float32');
  const fitted = integersOf(type);
  const whole = Array.from(given, (value) => fitted(Math.trunc(value)));
  return tf.tensor(int32Array(shape, whole, 'x').values as Int32Array, shape, 'int32');
}

export const CAST_OPS: readonly GraphOp[] = [graphOp('Cast(x: SrcT) -> y: DstT', cast)];
