import { readArray, type ArrayType } from '../../../src/io/weights/array_values.js';
import { expectError } from '../../helpers/errors.js';

/** A file whose halves count: the one at number i is i % 2048, behind 6 bytes. */
const COUNT = 2 ** 22 + 5;
const halves = {
  size: 6 + 2 * COUNT,
  read(position: number, into: Uint8Array): number {
    const view = new DataView(into.buffer, into.byteOffset, into.length);
    for (let at = 0; at < into.length; at += 2) view.setUint16(at, halfOf(((position - 6 + at) / 2) % 2048), true);
    return into.length;
  },
  close(): void {},
};

/** The bits of a whole number below 2048 as a half. */
function halfOf(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | (value * 2 ** (10 - exponent) - 1024);
}

describe('values of arrays', () => {
  const half: ArrayType = { kind: 'float', bytes: 2, littleEndian: true, dtype: 'float32' };

  it('are read in pieces, and are the same as in one', () => {
    const values = readArray(halves, 'file', 6, COUNT, half);
    expect(values.length).toBe(COUNT);
    expect(values.findIndex((value, i) => value !== i % 2048)).toBe(-1);
  });

  it('are refused where the file ends before', () => {
    expectError(() => readArray(halves, 'file', 6, COUNT + 1, half), 'ValueError', 'source', `file, which holds ${2 * COUNT}`); // prettier-ignore
    const short = { ...halves, read: (_: number, into: Uint8Array): number => into.length - 1 };
    expectError(() => readArray(short, 'file', 6, 3, half), 'ValueError', 'source', 'file, which ends before');
    const plain: ArrayType = { kind: 'float', bytes: 4, littleEndian: true, dtype: 'float32' };
    expectError(() => readArray(short, 'file', 6, 3, plain), 'ValueError', 'source', 'file, which ends before');
  });
});
