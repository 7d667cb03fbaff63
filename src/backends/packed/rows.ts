/** Rows of float32 into words, and words into rows. */
import type { PackedStorage } from '../../base/types.js';
import { halfValue, nearestHalf } from './half.js';
import { wordsPerRow } from '../kernel_set.js';

const CODES = 255;
const floats = new Float32Array(2);
const bits = new Int32Array(floats.buffer);

/** A value that cannot be kept: where it is, and why. */
export interface Unpackable {
  readonly row: number;
  readonly column: number;
  readonly value: number;
  readonly reason: string;
}

/** Whole numbers from 0 to 255, ties to even: the nearest one. */
function codeOf(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  const up = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
  return Math.min(CODES, Math.max(0, up ? below + 1 : below));
}

/**
 * A row of codes. With the scale s, which is float32, each value is within s / 2 of what it is read as, but for the
 * rounding of float32. A row of equal values is read as it was.
 */
function packCodes(values: Float32Array, words: Int32Array, at: number): void {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  let scale = Math.fround((most - least) / CODES);
  // A range of a few denormals: the scale must not round below what reaches the largest value.
  if (most > least && scale * CODES < (most - least) * (1 - 2 ** -20)) scale = nextFloat(scale);
  const count = Math.ceil(values.length / 4);
  words.fill(0, at, at + count);
  values.forEach((value, c) => {
    const code = scale === 0 ? 0 : codeOf((value - least) / scale);
    words[at + (c >> 2)]! |= code << (8 * (c & 3));
  });
  floats[0] = scale;
  floats[1] = least;
  words[at + count] = bits[0]!;
  words[at + count + 1] = bits[1]!;
}

/** The float32 after a number >= 0. */
function nextFloat(value: number): number {
  floats[0] = value;
  bits[0]!++;
  return floats[0];
}

function packHalves(values: Float32Array, words: Int32Array, at: number): void {
  words.fill(0, at, at + Math.ceil(values.length / 2));
  values.forEach((value, c) => {
    words[at + (c >> 1)]! |= nearestHalf(value) << (16 * (c & 1));
  });
}

/** Why a value cannot be kept; null where it can. */
function reasonAgainst(storage: PackedStorage, value: number): string | null {
  if (storage === 'int8') return Number.isFinite(value) ? null : 'codes stand for finite numbers only';
  return Number.isFinite(value) && Math.abs(value) >= 65520 ? 'the largest half is 65504' : null;
}

/** The first value that cannot be kept, or null. */
export function firstUnpackable(values: Float32Array, storage: PackedStorage, dim: number): Unpackable | null {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const reason = reasonAgainst(storage, value);
    if (reason !== null) return { row: Math.floor(i / dim), column: i % dim, value, reason };
  }
  if (storage === 'float16') return null;
  for (let row = 0; row * dim < values.length; row++) {
    const columns = values.subarray(row * dim, (row + 1) * dim);
    const range = columns.reduce((a, b) => Math.max(a, b)) - columns.reduce((a, b) => Math.min(a, b));
    if (!Number.isFinite(Math.fround(range))) {
      const column = columns.indexOf(columns.reduce((a, b) => Math.max(a, b)));
      return { row, column, value: columns[column]!, reason: 'the range of the row is beyond float32' };
    }
  }
  return null;
}

/** Writes whole rows, row-major in `values`, into `words` from row `firstRow` on. */
export function packRows(
  values: Float32Array,
  storage: PackedStorage,
  dim: number,
  words: Int32Array,
  firstRow = 0,
): void {
  const perRow = wordsPerRow(storage, dim);
  const pack = storage === 'int8' ? packCodes : packHalves;
  for (let row = 0; row * dim < values.length; row++) {
    pack(values.subarray(row * dim, (row + 1) * dim), words, (firstRow + row) * perRow);
  }
}

/** Writes the columns of one row into `to` from `at` on; `from`: the first word of the row. */
export function unpackRow(
  words: Int32Array,
  from: number,
  storage: PackedStorage,
  dim: number,
  to: Float32Array,
  at: number,
): void {
  if (storage === 'float16') {
    for (let c = 0; c < dim; c++) to[at + c] = halfValue((words[from + (c >> 1)]! >>> (16 * (c & 1))) & 0xffff);
    return;
  }
  const tail = from + Math.ceil(dim / 4);
  bits[0] = words[tail]!;
  bits[1] = words[tail + 1]!;
  const [scale, offset] = [floats[0]!, floats[1]!];
  for (let c = 0; c < dim; c++) to[at + c] = scale * ((words[from + (c >> 2)]! >>> (8 * (c & 3))) & 255) + offset;
}

/** All rows of these words as float32, row-major. */
export function unpackRows(words: Int32Array, storage: PackedStorage, dim: number): Float32Array {
  const perRow = wordsPerRow(storage, dim);
  const rows = words.length / perRow;
  const values = new Float32Array(rows * dim);
  for (let row = 0; row < rows; row++) unpackRow(words, row * perRow, storage, dim, values, row * dim);
  return values;
}
