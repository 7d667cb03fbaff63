/** Means and variances along axes, as Keras's Normalization takes them. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';

/** A number, or an array of them for each kept axis. */
export type Moments = number | readonly Moments[];

/** The smallest standard deviation, Keras's epsilon. */
export const LEAST_DEVIATION = 1e-7;

export function readAxis(value: unknown): number[] {
  if (value === undefined) return [-1];
  const axes: unknown[] = value === null ? [] : Array.isArray(value) ? value : [value];
  for (const axis of axes) {
    if (typeof axis !== 'number') throw new ArgumentTypeError('axis', 'a whole number or an array of them', value);
    if (!Number.isInteger(axis)) throw new ValueError('axis', 'a whole number or an array of them', value);
  }
  return axes as number[];
}

/** Numbers of a nested array with even rows, and its shape. */
export interface MomentList {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

function readMoments(value: unknown, argument: string): MomentList | null {
  if (value === undefined || value === null) return null;
  const shape: number[] = [];
  for (let part: unknown = value; Array.isArray(part); part = (part as unknown[])[0]) shape.push(part.length);
  const values = (Array.isArray(value) ? value.flat(Infinity) : [value]) as unknown[];
  const wrong = values.find((each) => typeof each !== 'number');
  if (wrong !== undefined) throw new ArgumentTypeError(argument, 'a number, or nested arrays of numbers', wrong);
  const isEven = (part: unknown, depth: number): boolean => {
    if (depth === shape.length) return !Array.isArray(part);
    return Array.isArray(part) && part.length === shape[depth] && part.every((each) => isEven(each, depth + 1));
  };
  if (!isEven(value, 0)) throw new ValueError(argument, 'rows of equal length', described('uneven rows'));
  return { shape, values: values as number[] };
}

/** Nested arrays from numbers in a row. */
export function nest({ shape, values }: MomentList): Moments {
  if (shape.length === 0) return values[0]!;
  const [rows, ...inner] = shape as [number, ...number[]];
  const size = values.length / Math.max(rows, 1);
  return Array.from({ length: rows }, (_, i) => nest({ shape: inner, values: values.slice(i * size, (i + 1) * size) }));
}

/** The axes of an input that have moments for each place, ascending. */
export function keptAxes(axis: readonly number[], shape: readonly (number | null)[]): number[] {
  const rank = shape.length;
  const kept = axis.map((each) => (each < 0 ? each + rank : each)).sort((a, b) => a - b);
  const expected = `different axes of an input of rank ${rank}, each of a known size`;
  const isRight = kept.every((at, i) => at >= 0 && at < rank && at !== kept[i - 1] && shape[at] !== null);
  if (!isRight) throw new ValueError('axis', expected, axis);
  return kept;
}

/** The shape in which given moments meet an input. The last axis of theirs is the last kept one, as in Keras. */
export function shapeOfGiven(
  { shape }: MomentList,
  kept: readonly number[],
  input: readonly (number | null)[],
): number[] {
  const meeting = input.map(() => 1);
  shape.forEach((size, i) => {
    const at = kept[kept.length - shape.length + i]!;
    if (size !== 1 && size !== input[at]) {
      throw new ValueError('mean', `${input[at]} numbers for axis ${at} of the input`, described(`${size}`));
    }
    meeting[at] = size;
  });
  return meeting;
}

/** Mean and variance that are given; null: neither is. */
export function readBoth(
  givenMean: unknown,
  givenVariance: unknown,
  axis: readonly number[],
): { readonly mean: MomentList; readonly variance: MomentList } | null {
  const mean = readMoments(givenMean, 'mean');
  const variance = readMoments(givenVariance, 'variance');
  if ((mean === null) !== (variance === null)) {
    const argument = mean === null ? 'mean' : 'variance';
    throw new ValueError(argument, 'mean and variance, or neither', described('one of them'));
  }
  if (mean === null || variance === null) return null;
  const shapes = [mean, variance].map(({ shape }) => `[${shape.join(', ')}]`);
  if (shapes[0] !== shapes[1])
    throw new ValueError('variance', `shape ${shapes[0]}, that of mean`, described(shapes[1]!));
  if (mean.shape.length > axis.length) {
    throw new ValueError('mean', `at most as many axes as axis has (${axis.length})`, described(shapes[0]!));
  }
  return { mean, variance };
}
