import { isPowerOfTwo, product, shardCount, textOf, wholeNumber } from '../../../src/tpu/sparse_core/numbers.js';
import { expectError } from '../../helpers/errors.js';

describe('plain numbers of SparseCore functions', () => {
  it('are whole and within their bounds', () => {
    expect([wholeNumber(0, 'a'), wholeNumber(3, 'a', 3), wholeNumber(9, 'a', 3, 9)]).toEqual([0, 3, 9]);
    for (const wrong of [-1, 1.5, NaN, Infinity])
      expectError(() => wholeNumber(wrong, 'a'), 'ValueError', 'a', `${wrong}`);
    expectError(() => wholeNumber(2, 'a', 3), 'ValueError', 'a', '2');
    expectError(() => wholeNumber(10, 'a', 3, 9), 'ValueError', 'a', '10');
    expectError(() => wholeNumber('3', 'a'), 'TypeError', 'a', '3');
    expect(() => wholeNumber(-1, 'a')).toThrowError(/>= 0/);
    expect(() => wholeNumber(-1, 'a', 0, 9)).toThrowError(/from 0 to 9/);
  });

  it('are shards in a power of two, at most 2^20 of them', () => {
    expect([1, 2, 3, 4, 6, 2 ** 40, 2 ** 40 + 1].map(isPowerOfTwo)).toEqual([
      true,
      true,
      false,
      true,
      false,
      true,
      false,
    ]);
    expect([shardCount(2, 4, 'a'), shardCount(1, 1, 'a'), shardCount(2 ** 18, 4, 'a')]).toEqual([8, 1, 2 ** 20]);
    expectError(() => shardCount(3, 4, 'a'), 'ValueError', 'a', '12, 3 x 4');
    expectError(() => shardCount(2 ** 19, 4, 'a'), 'ValueError', 'a', '2097152');
  });

  it('make a size', () => {
    expect([product([]), product([2, 3, 4])]).toEqual([1, 24]);
  });
});

describe('textOf', () => {
  it('gives back a text that is not empty', () => {
    expect(textOf('a', 'name')).toBe('a');
    expectError(() => textOf('', 'name'), 'ValueError', 'name');
    expectError(() => textOf(1, 'name'), 'TypeError', 'name', '1');
  });
});
