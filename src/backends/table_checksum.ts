/**
 * A sum over the elements of a table, of its bits, row and column mixed: it adds up over any cut of the table. The same as
 * custom-ops/kernels/checksum.c.
 */
import type { FilledPart } from './counter_random.js';

/** Two sums mod 2^32, as unsigned numbers. */
export type Checksum = readonly [number, number];

/** Of each sum: what rows begin with, and how far columns are apart. */
const ROW_SALT = [0x3c6ef372, 0x9b05688c] as const;
const COLUMN_STEP = [0x9e3779b1, 0xc2b2ae3d] as const;

export const NO_ELEMENTS: Checksum = [0, 0];

/** Each bit of the result depends on all of the number. The factors are those that Chris Wellons' search found best. */
function mixed(n: number): number {
  let x = Math.imul(n ^ (n >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}

/** Of a part of a table, row-major. */
export function checksumOf(values: Float32Array, part: FilledPart): Checksum {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  const { firstRow, rowStep, rows, firstColumn, columns } = part;
  const sums = ROW_SALT.map((salt, lane) => {
    const step = COLUMN_STEP[lane]!;
    let sum = 0;
    for (let row = 0, at = 0; row < rows; row++) {
      let key = (mixed((firstRow + rowStep * row) ^ salt) + Math.imul(firstColumn, step)) | 0;
      for (let column = 0; column < columns; column++) {
        sum = (sum + mixed(bits[at++]! ^ key)) | 0;
        key = (key + step) | 0;
      }
    }
    return sum >>> 0;
  });
  return sums as unknown as Checksum;
}

/** Of two parts of a table together. */
export function addedChecksums(a: Checksum, b: Checksum): Checksum {
  return [(a[0] + b[0]) >>> 0, (a[1] + b[1]) >>> 0];
}

export function sameChecksum(a: Checksum, b: Checksum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}
