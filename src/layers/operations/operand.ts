/** What an operation is given and gives, as far as it is known before it runs: shapes and dtypes, by the rules of Keras. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';

export type OperandType = 'bool' | 'int32' | 'float32';

/** Shape and dtype of a tensor. */
export interface Spec {
  readonly shape: SymbolicShape;
  readonly dtype: OperandType;
}

/** Tensors alone, in lists, and what is no tensor: numbers, lists of places, slices. */
export type Operand<T> = T | number | boolean | string | null | readonly Operand<T>[] | PlainRecord;
type PlainRecord = { readonly [key: string]: unknown };

/** What an operation is told when it is made, by Keras's names. */
export type Settings = Readonly<Record<string, unknown>>;

/** One operation: what follows from its operands, and the operands themselves computed. */
export interface Rule {
  /** Names of the operands, in the order in which they are called. */
  readonly operands: readonly string[];
  /** Settings, by Keras's names, with their values where they are not told. */
  readonly settings: Settings;
  spec(operands: readonly Operand<Spec>[], settings: Settings): Spec | Spec[];
  run(operands: readonly Operand<tf.Tensor>[], settings: Settings): tf.Tensor | tf.Tensor[];
  /** Whether no gradient goes through it. */
  readonly isConstant?: boolean;
}

const ORDER: readonly OperandType[] = ['bool', 'int32', 'float32'];

export function isSpec(value: unknown): value is Spec {
  return isRecord(value) && Array.isArray(value['shape']) && typeof value['dtype'] === 'string';
}

export function specOf({ shape, dtype }: tf.Tensor | tf.SymbolicTensor): Spec {
  return { shape: shape as SymbolicShape, dtype: dtype as OperandType };
}

/** The spec of an operand that stands where a tensor is wanted. Throws ValueError for any other. */
export function asSpec(operand: Operand<Spec>): Spec {
  if (isSpec(operand)) return operand;
  if (typeof operand === 'boolean') return { shape: [], dtype: 'bool' };
  if (typeof operand === 'number') return { shape: [], dtype: Number.isInteger(operand) ? 'int32' : 'float32' };
  throw new ValueError('inputs', 'tensors and numbers', operand);
}

/** The tensors of a list that is the first operand, or the operands themselves. */
export function listOf<T>(operands: readonly Operand<T>[]): readonly Operand<T>[] {
  const [first] = operands;
  return Array.isArray(first) ? (first as readonly Operand<T>[]) : operands;
}

/** The dtype in which operands meet: a number in a program does not make a tensor of floats of one of whole numbers. */
export function meetingType(operands: readonly Operand<Spec>[]): OperandType {
  return operands.reduce<OperandType>((found, each) => {
    const { dtype } = asSpec(each);
    return ORDER.indexOf(dtype) > ORDER.indexOf(found) ? dtype : found;
  }, 'bool');
}

/** A tensor of the dtype; a number becomes a scalar. */
export function tensorOf(operand: Operand<tf.Tensor>, dtype?: OperandType): tf.Tensor {
  if (operand instanceof tf.Tensor) return dtype === undefined ? operand : tf.cast(operand, dtype);
  const wanted = dtype ?? asSpec(operand as Operand<Spec>).dtype;
  return tf.scalar(wanted === 'bool' ? Boolean(operand) : Number(operand), wanted);
}

export function broadcast(a: SymbolicShape, b: SymbolicShape): SymbolicShape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const [m, n] = [a, b].map((shape) => {
      const own = axis - rank + shape.length;
      return own < 0 ? 1 : shape[own]!;
    }) as [number | null, number | null];
    if (m === n || n === 1) return m;
    if (m === 1 || m === null) return n;
    if (n === null) return m;
    throw new ValueError('inputs', `shapes that broadcast to [${a.map(String).join(', ')}]`, shapeText(b));
  });
}

export function shapeText(shape: SymbolicShape): ReturnType<typeof described> {
  return described(`shape [${shape.map(String).join(', ')}]`);
}

/** The number of an axis, counted from the front. Throws ValueError for one that is not there. */
export function axisOf(axis: unknown, rank: number, name = 'axis'): number {
  const expected = `a whole number in [${-rank}, ${rank})`;
  if (!Number.isInteger(axis)) throw new ValueError(name, expected, axis);
  const at = (axis as number) < 0 ? (axis as number) + rank : (axis as number);
  if (at < 0 || at >= rank) throw new ValueError(name, expected, axis);
  return at;
}

/** Axes from a number, a list, or null for all of them. */
export function axesOf(axis: unknown, rank: number, name = 'axis'): number[] {
  if (axis === null || axis === undefined) return Array.from({ length: rank }, (_, i) => i);
  const axes = [axis].flat().map((each) => axisOf(each, rank, name));
  if (new Set(axes).size < axes.length) throw new ValueError(name, 'each axis once', axis);
  return axes;
}

/** The product of sizes; null where one is not known. */
export function sizeOf(shape: SymbolicShape): number | null {
  return shape.reduce<number | null>((all, size) => (all === null || size === null ? null : all * size), 1);
}

/** The shape of nested lists. */
export function listShape(value: unknown): number[] {
  return Array.isArray(value) ? [value.length, ...listShape(value[0])] : [];
}
