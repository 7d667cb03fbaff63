/** Elements that were read, as one tensor. */
import * as tf from '@tensorflow/tfjs';
import { tooLarge } from '../../backends/kernel_set.js';
import { ValueError, described } from '../../base/errors.js';
import { nodeBuiltin } from '../../base/platform.js';
import { isCompatible, mergeShapes, showShape, type PartialShape } from './partial_shape.js';

/** What was read from some indices in a row: a value of one of them, or zeros for each. */
export interface ReadElements {
  readonly index: number;
  readonly count: number;
  readonly shape: readonly number[];
  /** null: zeros. */
  readonly tensor: tf.Tensor | null;
}

/** Zeros of a dtype; empty text where it is `string`. */
export function zerosOf(shape: readonly number[], dtype: tf.DataType): tf.Tensor {
  // The `Fill` of wasm knows numbers alone.
  return dtype === 'string'
    ? tf.tensor(new Array<string>(tf.util.sizeFromShape([...shape])).fill(''), [...shape], 'string')
    : tf.zeros([...shape], dtype);
}

/** Elements of one shape along a new first axis; ValueError for another shape, and where memory does not hold them. */
export function stacked(read: readonly ReadElements[], dtype: tf.DataType, elementShape: PartialShape): tf.Tensor {
  const [first] = read;
  mergeShapes(elementShape, first!.shape, 'elementShape');
  const other = read.find(({ shape }) => !isCompatible(first!.shape, shape));
  if (other !== undefined) {
    const expected = `elements of one shape: index ${first!.index} has ${showShape(first!.shape)}`;
    throw new ValueError('indices', expected, described(`${showShape(other.shape)} at index ${other.index}`));
  }
  const { shape } = first!;
  const whole = [read.reduce((sum, { count }) => sum + count, 0), ...shape];
  return fittingMemory(whole, () => {
    if (read.every(({ tensor }) => tensor !== null)) return tf.stack(read.map(({ tensor }) => tensor!));
    return tf.concat(read.map(({ tensor, count }) => tensor?.expandDims(0) ?? zerosOf([count, ...shape], dtype)));
  });
}

/** Elements joined along their first axis; ValueError as for `stacked`, where only that axis may differ. */
export function concatenated(read: readonly ReadElements[], dtype: tf.DataType, elementShape: PartialShape): tf.Tensor {
  const scalar = read.find(({ shape }) => shape.length === 0);
  if (scalar !== undefined) {
    const received = described(`a scalar at index ${scalar.index}`);
    throw new ValueError('elements', 'vectors at least', received, 'stack() takes scalars.');
  }
  const rest = read[0]!.shape.slice(1);
  mergeShapes(elementShape, rest, 'elementShape');
  const other = read.find(({ shape }) => !isCompatible(rest, shape.slice(1)));
  if (other !== undefined) {
    const expected = `elements that differ in their first axis only: index ${read[0]!.index} has ${showShape(rest)} behind it`;
    throw new ValueError('elements', expected, described(`${showShape(other.shape.slice(1))} at index ${other.index}`));
  }
  const rows = ({ count, shape: [length] }: ReadElements): number => count * length!;
  return fittingMemory([read.reduce((sum, each) => sum + rows(each), 0), ...rest], () =>
    tf.concat(read.map((each) => each.tensor ?? zerosOf([rows(each), ...rest], dtype))),
  );
}

/** Bytes above which the machine is asked what it still has. */
const LARGE = 2 ** 28;

/** Makes a tensor in a tidy; ValueError where memory does not hold it, which engines tell late or not at all. */
function fittingMemory(shape: readonly number[], make: () => tf.Tensor): tf.Tensor {
  const bytes = shape.reduce((product, length) => product * length, 4);
  const free = bytes < LARGE ? Infinity : (nodeBuiltin<{ freemem(): number }>('node:os')?.freemem() ?? Infinity);
  const refuse = (): Error => tooLarge('size', 'elements', shape);
  if (bytes > free) throw refuse();
  try {
    return tf.tidy(make);
  } catch (error) {
    throw error instanceof RangeError ? refuse() : error;
  }
}
