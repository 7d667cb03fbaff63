/**
 * Rows of codes: four of 8 bits in a word, then the float32 scale and offset of the row. A column is scale * code + offset,
 * as in the fused 8-bit rows of FBGEMM. They are looked up alone.
 */
import type { Codec, Unpackable } from './codec.js';

const CODES = 255;
const floats = new Float32Array(2);
const bits = new Int32Array(floats.buffer);

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

/** Words of the codes of a row. */
const codeWords = (dim: number): number => Math.ceil(dim / 4);

function firstUnpackable(values: Float32Array, dim: number): Unpackable | null {
  const i = values.findIndex((value) => !Number.isFinite(value));
  if (i >= 0) {
    const reason = 'codes stand for finite numbers only';
    return { row: Math.floor(i / dim), column: i % dim, value: values[i]!, reason };
  }
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

export const INT8: Codec = {
  name: 'int8',
  number: 2,
  dtype: 'int32',
  isPlain: false,
  training: null,
  words: (dim) => codeWords(dim) + 2,
  firstUnpackable,
  pack(values, dim, into, firstRow = 0) {
    for (let row = 0; row * dim < values.length; row++) {
      packCodes(values.subarray(row * dim, (row + 1) * dim), into as Int32Array, (firstRow + row) * INT8.words(dim));
    }
  },
  unpack(rows, dim) {
    const perRow = INT8.words(dim);
    const count = rows.length / perRow;
    const values = new Float32Array(count * dim);
    for (let row = 0; row < count; row++) {
      const from = row * perRow;
      bits[0] = rows[from + codeWords(dim)]!;
      bits[1] = rows[from + codeWords(dim) + 1]!;
      const [scale, offset] = [floats[0]!, floats[1]!];
      for (let c = 0; c < dim; c++) {
        values[row * dim + c] = scale * ((rows[from + (c >> 2)]! >>> (8 * (c & 3))) & 255) + offset;
      }
    }
    return values;
  },
  packStep() {
    throw new Error('rows of int8 take no steps');
  },
};
