/** From rows of different lengths to a padded tensor and back. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { readNestedRows } from './nested_rows.js';
import { checkSize, longestRow, splitsOfLengths } from './row_splits.js';
import { readFlat, readInt32, readTensor, type FlatInput } from './values.js';

export interface ToPaddedOptions {
  /** Fills the ends of rows. Default: -1, which is no id. */
  defaultValue?: number | undefined;
  /** Length of the innermost ragged axis, or of each ragged axis (null: the longest row). Longer rows are cut. */
  maxLength?: number | null | readonly (number | null)[] | undefined;
}

export interface FromPaddedOptions {
  /** Length of each row. */
  lengths?: FlatInput | undefined;
  /** The value that ends are filled with. */
  padding?: number | undefined;
}

/** What is padded: a RaggedTensor. */
interface RaggedRows {
  readonly values: Int32Array | Float32Array;
  readonly nestedRowSplits: readonly Int32Array[];
  readonly innerShape: readonly number[];
}

function paddedLengths(ragged: RaggedRows, maxLength: ToPaddedOptions['maxLength']): number[] {
  const { nestedRowSplits } = ragged;
  const axes = nestedRowSplits.length;
  const fixed: readonly unknown[] = Array.isArray(maxLength)
    ? (maxLength as readonly unknown[])
    : [...new Array<null>(axes - 1).fill(null), maxLength ?? null];
  if (fixed.length !== axes) throw new ValueError('maxLength', `one length per ragged axis (${axes})`, maxLength);
  return nestedRowSplits.map((splits, axis) => {
    const length = fixed[axis] ?? null;
    if (length !== null) return checkSize(length, 'maxLength');
    return longestRow(splits);
  });
}

function checkFill(value: unknown, isWhole: boolean, argument: string): number {
  const expected = isWhole ? 'a whole number that fits int32' : 'a number';
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (isWhole && (value | 0) !== value) throw new ValueError(argument, expected, value);
  return value;
}

/** Values and shape of the padded tensor. */
export function toPaddedValues(
  ragged: RaggedRows,
  given: ToPaddedOptions,
): { values: Int32Array | Float32Array; shape: number[] } {
  const options = readOptions<ToPaddedOptions>(
    given,
    ['defaultValue', 'maxLength'],
    'options',
    'ragged.toPadded({defaultValue: -1})',
  );
  const { values, nestedRowSplits, innerShape } = ragged;
  const isWhole = values instanceof Int32Array;
  const fill = checkFill(options.defaultValue ?? -1, isWhole, 'defaultValue');
  const shape = [nestedRowSplits[0]!.length - 1, ...paddedLengths(ragged, options.maxLength), ...innerShape];
  const total = shape.reduce((product, length) => product * length, 1);
  if (total > Number.MAX_SAFE_INTEGER / 8) throw new ValueError('maxLength', 'a tensor that fits memory', shape);
  const padded = isWhole ? new Int32Array(total) : new Float32Array(total);
  if (fill !== 0) padded.fill(fill);
  const inner = innerShape.reduce((product, length) => product * length, 1);
  // Number of padded values under one entry of each axis.
  const strides = nestedRowSplits.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const place = (axis: number, row: number, at: number): void => {
    const splits = nestedRowSplits[axis]!;
    const first = splits[row]!;
    const end = Math.min(splits[row + 1]!, first + shape[axis + 1]!);
    if (axis + 1 === nestedRowSplits.length) {
      padded.set(values.subarray(first * inner, end * inner), at);
      return;
    }
    for (let entry = first; entry < end; entry++) place(axis + 1, entry, at + (entry - first) * strides[axis + 1]!);
  };
  for (let row = 0; row < shape[0]!; row++) place(0, row, row * strides[0]!);
  return { values: padded, shape };
}

function readPadded(padded: unknown): { values: Int32Array | Float32Array; shape: readonly number[] } {
  return readPresent(padded);
}

function readPresent(padded: unknown): { values: Int32Array | Float32Array; shape: readonly number[] } {
  if (padded instanceof tf.Tensor) {
    if (padded.rank < 2) throw new ValueError('padded', 'rank 2 or more: [rows, maxLength, …]', padded);
    return { values: readTensor(padded, 'padded'), shape: padded.shape };
  }
  if (!Array.isArray(padded)) throw new ArgumentTypeError('padded', 'a tensor or even nested arrays', padded);
  const { flat, shape } = readNestedRows(padded, 'padded');
  if (shape === null) throw new ValueError('padded', 'rows of one length', described('uneven rows'));
  if (shape.length < 2) throw new ValueError('padded', 'rank 2 or more: [rows, maxLength, …]', padded);
  return { values: readFlat(flat, 'padded', {}).values, shape };
}

/** Flat values and splits of the rows of a padded tensor. */
export function fromPaddedRows(
  padded: unknown,
  given: FromPaddedOptions,
): { values: Int32Array | Float32Array; rowSplits: Int32Array; innerShape: readonly number[] } {
  const options = readOptions<FromPaddedOptions>(
    given,
    ['lengths', 'padding'],
    'options',
    'RaggedTensor.fromPadded(padded, {padding: -1})',
  );
  if (options.lengths !== undefined && options.padding !== undefined) {
    throw new ValueError('options', 'either lengths or padding', described('both'));
  }
  const { values, shape } = readPadded(padded);
  const [rows, width, ...innerShape] = shape as [number, number, ...number[]];
  const inner = innerShape.reduce((product, length) => product * length, 1);
  const lengths =
    options.lengths !== undefined
      ? checkLengths(readInt32(options.lengths, 'lengths'), rows, width)
      : rowLengths(values, rows, width, inner, options.padding);
  const rowSplits = splitsOfLengths(lengths);
  const kept = new (values.constructor as Int32ArrayConstructor)(rowSplits[rows]! * inner) as Int32Array;
  for (let row = 0; row < rows; row++) {
    const first = row * width * inner;
    kept.set(values.subarray(first, first + lengths[row]! * inner), rowSplits[row]! * inner);
  }
  return { values: kept, rowSplits, innerShape };
}

function checkLengths(lengths: Int32Array, rows: number, width: number): Int32Array {
  if (lengths.length !== rows) throw new ValueError('lengths', `one length per row (${rows})`, lengths);
  lengths.forEach((length, row) => {
    if (length < 0 || length > width) {
      throw new ValueError('lengths', `lengths in [0, ${width}]`, described(`${length} at position ${row}`));
    }
  });
  return lengths;
}

/** Lengths without trailing padding. */
function rowLengths(
  values: Int32Array | Float32Array,
  rows: number,
  width: number,
  inner: number,
  padding: number | undefined,
): Int32Array {
  const lengths = new Int32Array(rows).fill(width);
  if (padding === undefined) return lengths;
  const fill = checkFill(padding, values instanceof Int32Array, 'padding');
  for (let row = 0; row < rows; row++) {
    const isPadding = (column: number): boolean => {
      const first = (row * width + column) * inner;
      return values.subarray(first, first + inner).every((value) => value === fill);
    };
    while (lengths[row]! > 0 && isPadding(lengths[row]! - 1)) lengths[row]!--;
  }
  return lengths;
}
