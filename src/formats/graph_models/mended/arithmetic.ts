/** Arithmetic of graphs that tfjs computes otherwise than TensorFlow, or on some backends not at all. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { typeAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { readValues, sizeOf } from '../host_array.js';
import { erfc } from './error_function.js';
import { axisOf, broadcast, commonShape } from './moves.js';
import { keepingNaN } from './no_numbers.js';

/** Whole numbers pair by pair, in the shape that both broadcast to. */
function paired(x: tf.Tensor, y: tf.Tensor, run: (a: number, b: number) => number): tf.Tensor {
  const shape = commonShape([x.shape, y.shape], 'y');
  return tf.tidy(() => {
    const [a, b] = [x, y].map((each) => broadcast(each, shape).dataSync()) as [Int32Array, Int32Array];
    return tf.tensor(
      Int32Array.from(a, (value, at) => run(value, b[at]!)),
      shape,
      'int32',
    );
  });
}

/** Quotients and rests of whole numbers: `ints` of a pair, whose second is not 0. */
function divided(
  floats: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor,
  ints: (a: number, b: number) => number,
): (inputs: tf.Tensor[]) => tf.Tensor {
  return ([x, y]) => {
    if (x!.dtype !== 'int32') return tf.tidy(() => floats(x!, y!));
    return paired(x!, y!, (a, b) => {
      if (b === 0) throw new ValueError('y', 'divisors of whole numbers other than 0', b);
      return ints(a, b);
    });
  };
}

/** With the sign of the first number, as in C. */
const restInC = (x: tf.Tensor, y: tf.Tensor): tf.Tensor => tf.mul(tf.sign(x), tf.mod(tf.abs(x), tf.abs(y)));
const truncated = (x: tf.Tensor): tf.Tensor => tf.mul(tf.sign(x), tf.floor(tf.abs(x)));

const quotients: Readonly<Record<string, (inputs: tf.Tensor[]) => tf.Tensor>> = {
  Div: divided(tf.div, (a, b) => Math.trunc(a / b)),
  TruncateDiv: divided(
    (x, y) => truncated(tf.div(x, y)),
    (a, b) => Math.trunc(a / b),
  ),
  FloorDiv: divided(
    (x, y) => tf.floor(tf.div(x, y)),
    (a, b) => Math.floor(a / b),
  ),
  Mod: divided(restInC, (a, b) => a % b),
  TruncateMod: divided(restInC, (a, b) => a % b),
  FloorMod: divided(tf.mod, (a, b) => a - Math.floor(a / b) * b),
};

/** `a` to the power of `b`, of which the lower 32 bits count. */
function power(a: number, b: number): number {
  if (b < 0) throw new ValueError('y', 'exponents of whole numbers of at least 0', b);
  let result = 1;
  for (let [factor, rest] = [a, b]; rest > 0; factor = Math.imul(factor, factor), rest >>>= 1) {
    if (rest % 2 === 1) result = Math.imul(result, factor);
  }
  return result;
}

/** Products on `cpu` are rounded before they are cut to 32 bits. */
function multiplied(x: tf.Tensor, y: tf.Tensor): tf.Tensor {
  return x.dtype === 'int32' && tf.getBackend() === 'cpu' ? paired(x, y, Math.imul) : tf.mul(x, y);
}

const squared = (x: tf.Tensor): tf.Tensor => (x.dtype === 'int32' ? multiplied(x, x) : tf.square(x));

/** Of strings the second stands behind the first. */
function added(x: tf.Tensor, y: tf.Tensor): tf.Tensor {
  if (x.dtype !== 'string') return tf.add(x, y);
  const shape = commonShape([x.shape, y.shape], 'y');
  return tf.tidy(() => {
    const [a, b] = [x, y].map((each) => readValues(tf.backend(), broadcast(each, shape), 'x')) as Uint8Array[][];
    const texts = a!.map((text, at) => Uint8Array.from([...text, ...b![at]!]));
    return tf.engine().makeTensor(texts as unknown as tf.DataValues, shape, 'string') as tf.Tensor;
  });
}

/** Numbers shifted, by one bit less than they have at most. */
function shifted(
  x: tf.Tensor,
  y: tf.Tensor,
  node: tf.GraphNode,
  run: (value: number, count: number) => number,
): tf.Tensor {
  const most = Number(/^DT_U?INT(8|16)$/.exec(typeAttribute(node, 'T'))?.[1] ?? 32) - 1;
  return paired(x, y, (value, count) => run(value, Math.min(most, Math.max(0, count))));
}

const BITS: Readonly<Record<string, (a: number, b: number) => number>> = {
  BitwiseAnd: (a, b) => a & b,
  BitwiseOr: (a, b) => a | b,
  BitwiseXor: (a, b) => a ^ b,
};

/** Strings are compared byte by byte. */
function isSame(x: tf.Tensor, y: tf.Tensor): tf.Tensor {
  if (x.dtype !== 'string') return tf.equal(x, y);
  const shape = commonShape([x.shape, y.shape], 'y');
  return tf.tidy(() => {
    const [a, b] = [x, y].map((each) => readValues(tf.backend(), broadcast(each, shape), 'x')) as Uint8Array[][];
    const same = Uint8Array.from(a!, (text, at) => Number(String(text) === String(b![at]!)));
    return tf.tensor(same, shape, 'bool');
  });
}

type Scan = (x: tf.Tensor, axis: number, exclusive: boolean, reverse: boolean) => tf.Tensor;

/** tfjs takes axes from the last for others. */
const scan =
  (run: Scan) =>
  ([x, axis]: tf.Tensor[], { attrs }: tf.GraphNode): tf.Tensor => {
    if (x!.size === 0) return x!.clone();
    return tf.tidy(() => run(x!, axisOf(axis!, x!.rank), attrs['exclusive'] === true, attrs['reverse'] === true));
  };

/** As `multiplied`, one after the other along an axis. */
function runningProduct(x: tf.Tensor, axis: number, exclusive: boolean, reverse: boolean): tf.Tensor {
  if (x.dtype !== 'int32' || tf.getBackend() !== 'cpu') return tf.cumprod(x, axis, exclusive, reverse);
  const given = x.dataSync();
  const products = new Int32Array(given.length);
  const [size, width] = [x.shape[axis]!, sizeOf(x.shape.slice(axis + 1))];
  const [first, before] = reverse ? [size - 1, width] : [0, -width];
  for (let i = 0; i < given.length; i++) {
    const at = reverse ? given.length - 1 - i : i;
    const isFirst = Math.floor(at / width) % size === first;
    const factor = exclusive ? (isFirst ? 1 : given[at + before]!) : given[at]!;
    products[at] = isFirst ? factor : Math.imul(products[at + before]!, factor);
  }
  return tf.tensor(products, x.shape, 'int32');
}

/** What lies in a band around the diagonal of matrices; a negative number of diagonals means all. */
function band([x, lower, upper]: tf.Tensor[]): tf.Tensor {
  const [below, above] = [readTensor(lower!, 'num_lower')[0]!, readTensor(upper!, 'num_upper')[0]!];
  if (x!.rank < 2) throw new ValueError('input', 'matrices', x!);
  const [rows, columns] = x!.shape.slice(-2) as [number, number];
  if (below > rows) throw new ValueError('num_lower', `a number of at most ${rows}`, below);
  if (above > columns) throw new ValueError('num_upper', `a number of at most ${columns}`, above);
  const values = readValues(tf.backend(), x!, 'input').slice() as Float32Array;
  values.forEach((_, at) => {
    const [row, column] = [Math.floor(at / columns) % rows, at % columns];
    if ((below >= 0 && row - column > below) || (above >= 0 && column - row > above)) values[at] = 0;
  });
  return tf.tensor(values, x!.shape, x!.dtype as 'float32');
}

/** For each value of a row the place in the sorted row before which it belongs, or behind which. */
const placed =
  (isBefore: (sorted: number, value: number) => boolean) =>
  ([sorted, values]: tf.Tensor[]): tf.Tensor => {
    const [rows, width] = sorted!.shape as [number, number];
    if (sorted!.rank !== 2 || values!.rank !== 2 || values!.shape[0] !== rows) {
      throw new ValueError('values', `a matrix of ${rows} rows, as sorted_inputs`, values!);
    }
    const row = sorted!.dataSync();
    const count = values!.shape[1]!;
    const places = Int32Array.from(values!.dataSync(), (value, at) => {
      const first = Math.floor(at / count) * width;
      let [low, high] = [0, width];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (isBefore(row[first + middle]!, value)) low = middle + 1;
        else high = middle;
      }
      return low;
    });
    return tf.tensor(places, values!.shape, 'int32');
  };

/** 0 where `x` is, whatever `y` gives. */
const OF_ZERO: Readonly<Record<string, (x: tf.Tensor, y: tf.Tensor) => tf.Tensor>> = {
  Xlogy: (x, y) => tf.mul(x, tf.log(y)),
  Xlog1py: (x, y) => tf.mul(x, tf.log1p(y)),
  Xdivy: (x, y) => tf.div(x, y),
};

export const ARITHMETIC_OPS: readonly GraphOp[] = [
  ...Object.entries(quotients).map(([name, run]) => graphOp(`${name}(x: T, y: T) -> z: T`, run)),
  ...Object.entries(OF_ZERO).map(([name, run]) =>
    graphOp(`${name}(x: T, y: T) -> z: T`, ([x, y]) =>
      tf.tidy(() => {
        const result = run(x!, y!);
        return tf.where(broadcast(tf.equal(x!, 0), result.shape), tf.zerosLike(result), result);
      }),
    ),
  ),
  graphOp('LeftShift(x: T, y: T) -> z: T', ([x, y], node) =>
    // Floats tell how far a result is beyond int32.
    x!.dtype === 'int32' ? shifted(x!, y!, node, (a, b) => a << b) : tf.tidy(() => tf.mul(x!, tf.pow(2, y!))),
  ),
  graphOp('RightShift(x: T, y: T) -> z: T', ([x, y], node) => shifted(x!, y!, node, (a, b) => a >> b)),
  ...Object.entries(BITS).map(([name, run]) => graphOp(`${name}(x: T, y: T) -> z: T`, ([x, y]) => paired(x!, y!, run))),
  graphOp('Invert(x: T) -> y: T', ([x]) =>
    tf.tensor(
      Int32Array.from(x!.dataSync(), (value) => ~value),
      x!.shape,
      'int32',
    ),
  ),
  graphOp('Add(x: T, y: T) -> z: T', ([x, y]) => added(x!, y!)),
  graphOp('AddV2(x: T, y: T) -> z: T', ([x, y]) => added(x!, y!)),
  graphOp('Sub(x: T, y: T) -> z: T', ([x, y]) => tf.sub(x!, y!)),
  graphOp('Mul(x: T, y: T) -> z: T', ([x, y]) => multiplied(x!, y!)),
  graphOp('Maximum(x: T, y: T) -> z: T', keepingNaN(tf.maximum, ['wasm'])),
  graphOp('Minimum(x: T, y: T) -> z: T', keepingNaN(tf.minimum, ['wasm'])),
  graphOp('Relu(features: T) -> activations: T', keepingNaN(tf.relu, ['wasm'])),
  graphOp('Relu6(features: T) -> activations: T', keepingNaN(tf.relu6, ['wasm'])),
  graphOp('Sign(x: T) -> y: T', keepingNaN(tf.sign, ['cpu', 'wasm', 'tensorflow'])),
  graphOp('Neg(x: T) -> y: T', ([x]) => tf.neg(x!)),
  graphOp('Square(x: T) -> y: T', ([x]) => squared(x!)),
  graphOp('SquaredDifference(x: T, y: T) -> z: T', ([x, y]) => tf.tidy(() => squared(tf.sub(x!, y!)))),
  graphOp('Pow(x: T, y: T) -> z: T', ([x, y]) => (x!.dtype === 'int32' ? paired(x!, y!, power) : tf.pow(x!, y!))),
  graphOp('Equal(x: T, y: T) -> z: bool', ([x, y]) => isSame(x!, y!)),
  graphOp('NotEqual(x: T, y: T) -> z: bool', ([x, y]) => tf.tidy(() => tf.logicalNot(isSame(x!, y!)))),
  graphOp('Cumsum(x: T, axis: Tidx) -> out: T', scan(tf.cumsum)),
  graphOp('Cumprod(x: T, axis: Tidx) -> out: T', scan(runningProduct)),
  graphOp('Round(x: T) -> y: T', ([x]) => (x!.dtype === 'int32' ? x!.clone() : tf.round(x!))),
  graphOp(
    'ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> output: T',
    keepingNaN((x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) => tf.maximum(tf.minimum(x, high), low), ['wasm']),
  ),
  graphOp('Erfc(x: T) -> y: T', ([x]) => tf.tensor(Float32Array.from(x!.dataSync(), erfc), x!.shape)),
  graphOp('Rint(x: T) -> y: T', ([x]) => tf.round(x!)),
  graphOp('L2Loss(t: T) -> output: T', ([x]) => tf.tidy(() => tf.div(tf.sum(tf.square(x!)), 2))),
  graphOp('MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T', band),
  graphOp(
    'LowerBound(sorted_inputs: T, values: T) -> output: out_type',
    placed((sorted, value) => sorted < value),
  ),
  graphOp(
    'UpperBound(sorted_inputs: T, values: T) -> output: out_type',
    placed((sorted, value) => sorted <= value),
  ),
];
