import * as tf from '@tensorflow/tfjs';
import {
  checkBagOptions,
  checkCombiner,
  checkLookupTable,
  checkMatrix,
  checkMaxNorm,
  checkOutOfRange,
  checkTable,
  checkValidate,
} from '../../src/lookup/arguments.js';
import { checkRowIds, readBagTensors } from '../../src/lookup/bag_arguments.js';
import { expectError } from '../helpers/errors.js';

type Numbers = tf.Tensor1D;

describe('arguments of lookups', () => {
  beforeAll(() => tf.setBackend('cpu'));

  it('have defaults', () => {
    const defaults = { combiner: 'sum', outOfRange: 'error', maxNorm: 0, validate: false };
    expect(checkBagOptions({ combiner: 'sum' })).toEqual(defaults as never);
    const none = { combiner: 'sum', outOfRange: null, maxNorm: null, validate: null };
    expect(checkBagOptions(none as never)).toEqual(defaults as never);
    const given = { combiner: 'max', outOfRange: 'zero', maxNorm: 2.5, validate: true } as const;
    expect(checkBagOptions(given)).toEqual(given);
    expect(['sum', 'mean', 'sqrtn', 'max'].map(checkCombiner)).toEqual(['sum', 'mean', 'sqrtn', 'max']);
    expect([Infinity, 1e-45].map(checkMaxNorm)).toEqual([0, 1e-45]);
  });

  it('name what is wrong', () => {
    expectError(() => checkCombiner('most'), 'ValueError', 'combiner', 'most');
    expectError(() => checkCombiner(undefined), 'TypeError', 'combiner', 'undefined');
    expect(() => checkCombiner('most')).toThrowError(/'sum', 'mean', 'sqrtn', 'max'/);
    expectError(() => checkOutOfRange('one'), 'ValueError', 'outOfRange', 'one');
    expectError(() => checkOutOfRange(0), 'TypeError', 'outOfRange', '0');
    for (const wrong of [0, -1, NaN]) expectError(() => checkMaxNorm(wrong), 'ValueError', 'maxNorm', String(wrong));
    expectError(() => checkMaxNorm(1e-46), 'ValueError', 'maxNorm', '1e-46');
    expect(() => checkMaxNorm(1e-46)).toThrowError(/a positive float32/);
    expectError(() => checkMaxNorm('1'), 'TypeError', 'maxNorm', '1');
    expectError(() => checkValidate(1), 'TypeError', 'validate', '1');
  });

  it('are tables and matrices of the right shape', () => {
    tf.tidy(() => {
      const table = tf.zeros([3, 2]);
      expect(checkTable(table)).toBe(table as never);
      expect(checkLookupTable(table).tensor).toBe(table as never);
      for (const wrong of [tf.zeros([3]), tf.zeros([3, 2], 'int32'), [[1]], null]) {
        expectError(() => checkTable(wrong), 'TypeError', 'table');
        expectError(() => checkLookupTable(wrong, 'own'), 'TypeError', 'own');
      }
      expectError(() => checkTable(tf.zeros([3, 0])), 'ValueError', 'table', '[3, 0]');
      const gone = tf.zeros([3, 2]);
      gone.dispose();
      expectError(() => checkTable(gone), 'ValueError', 'table', 'disposed');
      expect(checkMatrix(table, 3, 2, 'dy')).toBe(table as never);
      expect(checkMatrix(table, 3, null, 'dy')).toBe(table as never);
      for (const [rows, columns] of [
        [2, 2],
        [3, 3],
        [4, null],
      ] as const) {
        expectError(() => checkMatrix(table, rows, columns, 'dy'), 'ValueError', 'dy', '[3, 2]');
      }
      expectError(() => checkMatrix(tf.zeros([3, 0]), 3, null, 'dy'), 'ValueError', 'dy', '[3, 0]');
      expectError(() => checkMatrix(tf.zeros([3]), 3, null, 'dy'), 'ValueError', 'dy', '[3]');
      expect(() => checkMatrix(tf.zeros([3]), 3, null, 'dy')).toThrowError(/\[3, dim\]/);
      expectError(() => checkMatrix(tf.zeros([3, 2], 'int32'), 3, 2, 'dy'), 'TypeError', 'dy', 'int32');
      expectError(() => checkMatrix([[1]], 1, 1, 'dy'), 'TypeError', 'dy');
      expectError(() => checkMatrix(gone, 3, 2, 'dy'), 'ValueError', 'dy', 'disposed');
    });
  });

  it('are vectors of ids, splits and weights', () => {
    tf.tidy(() => {
      const values = tf.tensor1d([4, 5, 6], 'int32');
      const splits = tf.tensor1d([0, 2, 3], 'int32');
      const read = readBagTensors(values, splits, null, undefined);
      expect([read.values, read.rowSplits, read.weights]).toEqual([values, splits, null] as never);
      const made = readBagTensors([4, 5, 6], Int32Array.of(0, 2, 3), [0.5, 1, 2], false);
      const plain = [made.values, made.rowSplits, made.weights!].map((tensor) => [tensor.dtype, ...tensor.dataSync()]);
      expect(plain as unknown).toEqual([
        ['int32', 4, 5, 6],
        ['int32', 0, 2, 3],
        ['float32', 0.5, 1, 2],
      ]);
      const wrong =
        (v: unknown, s: unknown, w: unknown = null) =>
        () =>
          readBagTensors(v as Numbers, s as Numbers, w as Numbers, undefined, 'in.');
      expectError(wrong(tf.zeros([3]), splits), 'TypeError', 'in.values', 'float32');
      expectError(wrong(tf.zeros([3, 1], 'int32'), splits), 'ValueError', 'in.values', '[3, 1]');
      expectError(wrong(values, tf.zeros([3])), 'TypeError', 'in.rowSplits', 'float32');
      expectError(wrong(values, [0, 2, 2]), 'ValueError', 'in.rowSplits');
      expectError(wrong(values, tf.tensor1d([0, 2, 1, 3], 'int32')), 'ValueError', 'in.rowSplits');
      expectError(wrong(values, splits, [1, 2]), 'ValueError', 'in.weights', '2');
      expectError(wrong(values, splits, tf.zeros([3], 'int32')), 'TypeError', 'in.weights', 'int32');
      expectError(wrong(values, splits, tf.zeros([3, 1])), 'ValueError', 'in.weights', '[3, 1]');
      expectError(wrong(values, splits, [1, NaN, 1]), 'ValueError', 'in.weights', 'NaN');
      expectError(wrong(values, splits, tf.tensor1d([1, NaN, 1])), 'ValueError', 'in.weights', 'NaN');
    });
  });

  it('are rows in ascending order', () => {
    tf.tidy(() => {
      const ids = (...rows: number[]): tf.Tensor => tf.tensor1d(rows, 'int32');
      const right = ids(0, 2, 4);
      expect(checkRowIds(right, 5, 'ids')).toBe(right as never);
      expect(checkRowIds(ids(), 0, 'ids').size).toBe(0);
      for (const [wrong, shown] of [
        [ids(0, 5), '5 at position 1'],
        [ids(-1), '-1 at position 0'],
        [ids(1, 1), '1 at position 1'],
        [ids(2, 1), '1 at position 1'],
      ] as const) {
        expectError(() => checkRowIds(wrong, 5, 'ids'), 'ValueError', 'ids', shown);
      }
      expectError(() => checkRowIds(tf.zeros([2, 1], 'int32'), 5, 'ids'), 'ValueError', 'ids', '[2, 1]');
      expectError(() => checkRowIds(tf.zeros([2]), 5, 'ids'), 'TypeError', 'ids', 'float32');
      expectError(() => checkRowIds([1], 5, 'ids'), 'TypeError', 'ids');
    });
  });
});
