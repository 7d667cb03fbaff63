import {
  checkRowSplits,
  checkSize,
  lengthsOfSplits,
  placeSplits,
  sameNumbers,
  splitsOfLengths,
  uniformSplits,
} from '../../src/ids/row_splits.js';
import { expectError } from '../helpers/errors.js';

const MOST = 2 ** 31 - 1;

describe('checkRowSplits', () => {
  it('names the argument and what is wrong', () => {
    checkRowSplits([0, 0, 2, 2], 2);
    expectError(() => checkRowSplits([], 0), 'ValueError', 'rowSplits', 'none');
    expectError(() => checkRowSplits([1], 1), 'ValueError', 'rowSplits', /^1$/);
    expectError(() => checkRowSplits([0, 3, 2], 2, 'splits'), 'ValueError', 'splits', '2 after 3 at position 2');
    expectError(() => checkRowSplits([0, 2], 3, 'splits'), 'ValueError', 'splits', /^2$/);
  });
});

describe('splitsOfLengths', () => {
  it('adds lengths up to the most that int32 holds', () => {
    expect(splitsOfLengths([2, 0, 1])).toEqual(Int32Array.of(0, 2, 2, 3));
    expect(splitsOfLengths([])).toEqual(Int32Array.of(0));
    expect(splitsOfLengths([MOST - 1, 1, 0])).toEqual(Int32Array.of(0, MOST - 1, MOST, MOST));
    expectError(() => splitsOfLengths([MOST, 0, 1]), 'ValueError', 'lengths', '2147483648');
    expectError(() => splitsOfLengths([1, -1], 'rows'), 'ValueError', 'rows', '-1 at position 1');
  });

  it('is undone by lengthsOfSplits', () => {
    expect(lengthsOfSplits(Int32Array.of(0, 2, 2, 3))).toEqual(Int32Array.of(2, 0, 1));
    expect(lengthsOfSplits(Int32Array.of(0))).toEqual(new Int32Array(0));
  });
});

describe('uniformSplits', () => {
  it('counts up to the most that int32 holds', () => {
    expect(uniformSplits(3, 2)).toEqual(Int32Array.of(0, 2, 4, 6));
    expect(uniformSplits(1, MOST)).toEqual(Int32Array.of(0, MOST));
    expectError(() => uniformSplits(2, 2 ** 30), 'ValueError', 'ids', '2 rows of 1073741824');
  });
});

describe('sameNumbers', () => {
  it('compares length and every number', () => {
    expect(sameNumbers([1, 2], Int32Array.of(1, 2))).toBeTrue();
    expect(sameNumbers([], [])).toBeTrue();
    for (const other of [[1], [1, 2, 3], [1, 3], [2, 2]]) expect(sameNumbers([1, 2], other)).toBeFalse();
  });
});

describe('checkSize', () => {
  it('takes whole numbers from 0 to the most that int32 holds', () => {
    for (const size of [0, 1, MOST]) expect(checkSize(size, 'size')).toBe(size);
    for (const size of [-1, 0.5, NaN, MOST + 1, Infinity]) {
      expectError(() => checkSize(size, 'size'), 'ValueError', 'size', String(size));
    }
    for (const size of ['3', null, undefined, 3n]) expectError(() => checkSize(size, 'size'), 'TypeError', 'size');
  });
});

describe('placeSplits', () => {
  it('gives each place of the padded rows its id, or none', () => {
    expect(placeSplits(Int32Array.of(0, 2, 2, 3), null)).toEqual({
      splits: Int32Array.of(0, 1, 2, 2, 2, 3, 3),
      rows: 3,
      columns: 2,
    });
    expect(placeSplits(Int32Array.of(0, 0), null)).toEqual({ splits: Int32Array.of(0), rows: 1, columns: 0 });
    expect(placeSplits(Int32Array.of(0), null)).toEqual({ splits: Int32Array.of(0), rows: 0, columns: 0 });
    expect(placeSplits(Int32Array.of(0, 2, 3), 3)).toEqual({
      splits: Int32Array.of(0, 1, 2, 2, 3, 3, 3),
      rows: 2,
      columns: 3,
    });
  });
});
