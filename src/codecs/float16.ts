/** Rows of halves, IEEE 754 binary16: two columns in a word. Steps round them stochastically. */
import type { Codec } from './codec.js';
import { halfValue, nearestHalf, stochasticHalf } from './half.js';

const words = (dim: number): number => Math.ceil(dim / 2);

function packRow(values: Float32Array, half: (value: number, column: number) => number, into: Int32Array): void {
  into.fill(0);
  values.forEach((value, c) => {
    into[c >> 1]! |= half(value, c) << (16 * (c & 1));
  });
}

export const FLOAT16: Codec = {
  name: 'float16',
  number: 1,
  dtype: 'int32',
  isPlain: false,
  training: 'rounded',
  words,
  firstUnpackable(values, dim) {
    const i = values.findIndex((value) => Number.isFinite(value) && Math.abs(value) >= 65520);
    if (i < 0) return null;
    const reason = 'the largest half is 65504';
    return { row: Math.floor(i / dim), column: i % dim, value: values[i]!, reason };
  },
  pack(values, dim, into, firstRow = 0) {
    const perRow = words(dim);
    for (let row = 0; row * dim < values.length; row++) {
      const at = (firstRow + row) * perRow;
      const target = into.subarray(at, at + perRow) as Int32Array;
      packRow(values.subarray(row * dim, (row + 1) * dim), nearestHalf, target);
    }
  },
  unpack(rows, dim) {
    const perRow = words(dim);
    const count = rows.length / perRow;
    const values = new Float32Array(count * dim);
    for (let row = 0; row < count; row++) {
      for (let c = 0; c < dim; c++) {
        values[row * dim + c] = halfValue((rows[row * perRow + (c >> 1)]! >>> (16 * (c & 1))) & 0xffff);
      }
    }
    return values;
  },
  packStep: (values, random, into) =>
    packRow(values, (value, c) => stochasticHalf(value, random[c]!), into as Int32Array),
};
