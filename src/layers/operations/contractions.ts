/** Operations that sum products: matrices and Einstein sums. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import { batchProduct } from '../../tfjs/engine/batch_product.js';
import { asSpec, broadcast, meetingType, shapeText, tensorOf, type Operand, type Rule, type Spec } from './operand.js';

function checkInner(a: number | null, b: number | null, shape: SymbolicShape): void {
  if (a === null || b === null || a === b) return;
  throw new ValueError('inputs', `matrices whose inner sizes are both ${a}`, shapeText(shape));
}

/** The shape of a product of matrices, as NumPy makes it; vectors have a row or a column that is dropped. */
function productShape(a: SymbolicShape, b: SymbolicShape): SymbolicShape {
  if (a.length === 0 || b.length === 0) throw new ValueError('inputs', 'rank 1 at least', shapeText([]));
  checkInner(a.at(-1)!, b.length === 1 ? b[0]! : b.at(-2)!, b);
  const batch = broadcast(a.slice(0, -2), b.slice(0, -2));
  return [...batch, ...(a.length === 1 ? [] : [a.at(-2)!]), ...(b.length === 1 ? [] : [b.at(-1)!])];
}

/** Of any ranks of at least 1; float32. Many rows and one matrix are one product. */
export function matrixProduct(a: tf.Tensor, b: tf.Tensor): tf.Tensor {
  const shape = productShape(a.shape, b.shape) as number[];
  const right = b.rank === 1 ? b.expandDims(-1) : b;
  if (right.rank === 2) {
    const rows = a.reshape<tf.Tensor2D>([-1, right.shape[0]!]);
    return tf.matMul(rows, right as tf.Tensor2D).reshape(shape);
  }
  const left = a.rank === 1 ? a.expandDims(0) : a;
  return batchProduct(left, right).reshape(shape);
}

const matmul: Rule = {
  operands: ['x1', 'x2'],
  settings: {},
  spec: ([a, b]) => ({ shape: productShape(asSpec(a!).shape, asSpec(b!).shape), dtype: meetingType([a!, b!]) }),
  run: ([a, b]) => {
    const dtype = meetingType([a, b] as readonly Operand<Spec>[]);
    return matrixProduct(tensorOf(a!, 'float32'), tensorOf(b!, 'float32')).cast(dtype);
  },
};

/** Letters of the two operands and of the result. */
interface Equation {
  readonly a: string;
  readonly b: string;
  readonly result: string;
}

function readEquation(value: unknown): Equation {
  const found = typeof value === 'string' ? /^([a-z]+),([a-z]+)->([a-z]*)$/.exec(value.replaceAll(' ', '')) : null;
  const [, a = '', b = '', result = ''] = found ?? [];
  const isOnce = [a, b, result].every((letters) => new Set(letters).size === letters.length);
  // A letter that one operand alone has and the result lacks would be summed before.
  const isKept = [...a, ...b].every((letter) => result.includes(letter) || (a.includes(letter) && b.includes(letter)));
  const isKnown = [...result].every((letter) => a.includes(letter) || b.includes(letter));
  if (found !== null && isOnce && isKept && isKnown) return { a, b, result };
  throw new ValueError('subscripts', `two operands and their result in small letters, such as 'bij,bjk->bik'`, value);
}

function sizesOf({ a, b }: Equation, shapes: readonly SymbolicShape[]): Map<string, number | null> {
  const sizes = new Map<string, number | null>();
  [a, b].forEach((letters, i) => {
    const shape = shapes[i]!;
    if (shape.length !== letters.length) throw new ValueError('inputs', `rank ${letters.length}`, shapeText(shape));
    [...letters].forEach((letter, axis) => {
      const [known, size] = [sizes.get(letter) ?? null, shape[axis]!];
      if (known !== null && size !== null && known !== size) {
        throw new ValueError('inputs', `size ${known} for ${letter}`, shapeText(shape));
      }
      sizes.set(letter, known ?? size);
    });
  });
  return sizes;
}

/** As one product of matrices for each place of what both operands and the result have. */
export function einsum(equation: string, x: tf.Tensor, y: tf.Tensor): tf.Tensor {
  const read = readEquation(equation);
  const { a, b, result } = read;
  const sizes = sizesOf(read, [x.shape, y.shape]) as Map<string, number>;
  const batch = [...a].filter((letter) => b.includes(letter) && result.includes(letter));
  const summed = [...a].filter((letter) => b.includes(letter) && !result.includes(letter));
  const [rows, columns] = [
    [...a].filter((letter) => !b.includes(letter)),
    [...b].filter((letter) => !a.includes(letter)),
  ];
  const size = (letters: readonly string[]): number => letters.reduce((all, letter) => all * sizes.get(letter)!, 1);
  const flat = (value: tf.Tensor, letters: string, order: string[][]): tf.Tensor3D => {
    const moved = value.transpose(order.flat().map((letter) => letters.indexOf(letter)));
    return moved.reshape(order.map(size) as [number, number, number]);
  };
  const product = tf.matMul(flat(x, a, [batch, rows, summed]), flat(y, b, [batch, summed, columns]));
  const letters = [...batch, ...rows, ...columns];
  return product
    .reshape(letters.map((letter) => sizes.get(letter)!))
    .transpose([...result].map((letter) => letters.indexOf(letter)));
}

export const CONTRACTIONS: Readonly<Record<string, Rule>> = {
  Matmul: matmul,
  Einsum: {
    operands: ['a', 'b'],
    settings: { subscripts: '' },
    spec: ([a, b], { subscripts }) => {
      const equation = readEquation(subscripts);
      const sizes = sizesOf(equation, [asSpec(a!).shape, asSpec(b!).shape]);
      return { shape: [...equation.result].map((letter) => sizes.get(letter)!), dtype: meetingType([a!, b!]) };
    },
    run: ([a, b], { subscripts }) => einsum(subscripts as string, tensorOf(a!, 'float32'), tensorOf(b!, 'float32')),
  },
};
