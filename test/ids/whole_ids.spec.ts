import { toFloat32 } from '../../src/ids/float_values.js';
import { toInt32 } from '../../src/ids/whole_ids.js';
import { expectError } from '../helpers/errors.js';

const convert = (vector: unknown): number[] => Array.from(toInt32(vector, 'ids'));

describe('toInt32', () => {
  it('takes whole numbers of every kind of array', () => {
    const kinds = [
      [1, -2, 3],
      Int8Array.of(1, -2, 3),
      Int16Array.of(1, -2, 3),
      Int32Array.of(1, -2, 3),
      Float32Array.of(1, -2, 3),
      Float64Array.of(1, -2, 3),
      BigInt64Array.of(1n, -2n, 3n),
    ];
    for (const kind of kinds) expect(convert(kind)).toEqual([1, -2, 3]);
    for (const kind of [Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array]) {
      expect(convert(kind.of(0, 7))).toEqual([0, 7]);
    }
    expect(convert(BigUint64Array.of(7n))).toEqual([7]);
    expect(convert([])).toEqual([]);
  });

  it('keeps the ends of int32 and everything around 2^24 exact', () => {
    const around = [2147483647, -2147483648, 16777215, 16777216, 16777217, -16777217];
    expect(convert(around)).toEqual(around);
    expect(convert(Float64Array.from(around))).toEqual(around);
    expect(convert(BigInt64Array.from(around, BigInt))).toEqual(around);
    expect(convert(Float32Array.of(16777215, -16777215))).toEqual([16777215, -16777215]);
    expectError(() => convert(Float32Array.of(1, -16777216)), 'ValueError', 'ids', '-16777216 at position 1');
  });

  it('refuses what does not fit, with its position', () => {
    expectError(() => convert([1, 2147483648]), 'ValueError', 'ids', '2147483648 at position 1');
    expectError(() => convert([-2147483649]), 'ValueError', 'ids', '-2147483649 at position 0');
    expectError(() => convert(Uint32Array.of(0, 4294967295)), 'ValueError', 'ids', '4294967295 at position 1');
    expectError(() => convert(Float64Array.of(0, 1e300)), 'ValueError', 'ids', '1e+300 at position 1');
    expectError(() => convert(BigInt64Array.of(0n, 2n ** 40n)), 'ValueError', 'ids', '1099511627776n at position 1');
    expectError(() => convert(BigInt64Array.of(-(2n ** 31n) - 1n)), 'ValueError', 'ids', '-2147483649n at position 0');
    expectError(() => convert(BigUint64Array.of(2n ** 31n)), 'ValueError', 'ids', 'position 0');
    expectError(() => convert(Float32Array.of(0, 0, 16777218)), 'ValueError', 'ids', '16777218 at position 2');
  });

  it('refuses fractions, NaN and infinities, with their position', () => {
    for (const kind of [Array, Float32Array, Float64Array] as const) {
      for (const bad of [0.5, NaN, Infinity, -Infinity]) {
        const vector = (kind as { from(values: number[]): unknown }).from([3, bad]);
        expectError(() => convert(vector), 'ValueError', 'ids', `${bad} at position 1`);
      }
    }
  });

  it('says whether a number has a fraction or is too large', () => {
    expect(() => convert([0, 0.5])).toThrowError('`ids` must be integers: 0.5 at position 1.');
    expect(() => convert(Float32Array.of(16777218))).toThrowError(/below 2\^24 .*received 16777218 at position 0\./);
  });

  it('refuses what is no number', () => {
    expectError(() => convert([1, '2']), 'TypeError', 'ids', 'string at position 1');
    expectError(() => convert([true]), 'TypeError', 'ids', 'boolean at position 0');
    expectError(() => convert([1, null]), 'TypeError', 'ids', 'null at position 1');
    expectError(() => convert([1n]), 'TypeError', 'ids', 'bigint at position 0');
    for (const bad of ['12', 5, null, undefined, {}, new DataView(new ArrayBuffer(4)), new Set([1])]) {
      expectError(() => convert(bad), 'TypeError', 'ids');
    }
  });
});

describe('toFloat32', () => {
  it('takes numbers of every kind of array', () => {
    for (const kind of [[0.5, -2], Float32Array.of(0.5, -2), Float64Array.of(0.5, -2)]) {
      expect(Array.from(toFloat32(kind, 'weights'))).toEqual([0.5, -2]);
    }
    expect(Array.from(toFloat32(Int32Array.of(3), 'weights'))).toEqual([3]);
    expect(Array.from(toFloat32([Infinity], 'weights'))).toEqual([Infinity]);
  });

  it('refuses finite numbers that would become infinite, and what is no number', () => {
    expectError(() => toFloat32([1, 1e39], 'weights'), 'ValueError', 'weights', '1e+39 at position 1');
    expectError(() => toFloat32([1, '1'], 'weights'), 'TypeError', 'weights', 'string at position 1');
    expectError(() => toFloat32([1, null], 'weights'), 'TypeError', 'weights', 'null at position 1');
    for (const other of [BigInt64Array.of(1n), BigUint64Array.of(1n), new DataView(new ArrayBuffer(4)), {}, 7, null]) {
      expectError(() => toFloat32(other, 'weights'), 'TypeError', 'weights', /^(?!.*position)/);
    }
    const own = Float32Array.of(1);
    expect(toFloat32(own, 'weights')).toBe(own);
    expectError(() => toFloat32('1', 'weights'), 'TypeError', 'weights');
  });
});
