import * as tf from '@tensorflow/tfjs';
import { comparePlaces, isSparse, readPlaces, readSparse, vectorLength } from '../../src/ids/sparse_values.js';
import { expectError } from '../helpers/errors.js';

const values = [5, 6];
const denseShape = [2, 3];

describe('isSparse', () => {
  it('is an object with indices and values', () => {
    expect(isSparse({ indices: [], values: [], denseShape: [1] })).toBeTrue();
    expect(isSparse({ indices: [], values: [] })).toBeTrue();
    const array = Object.assign(new Float32Array(1), { indices: [] });
    const callable = Object.assign(() => 0, { indices: [], values: [] });
    for (const other of [null, undefined, 3, 'indices', { indices: [] }, { values: [] }, [], array, callable]) {
      expect(isSparse(other)).toBeFalse();
    }
    tf.tidy(() => {
      const tensor = Object.assign(tf.zeros([1]), { indices: [], values: [] });
      expect(isSparse(tensor)).toBeFalse();
    });
  });
});

describe('vectorLength', () => {
  it('counts vectors of every kind and refuses others', () => {
    tf.tidy(() => {
      expect(vectorLength(tf.zeros([4]), 'values')).toBe(4);
      expectError(() => vectorLength(tf.zeros([4, 1]), 'values'), 'ValueError', 'values', '[4, 1]');
      expectError(() => vectorLength(tf.scalar(1), 'values'), 'ValueError', 'values', '[]');
    });
    expect(vectorLength([1, 2, 3], 'values')).toBe(3);
    expect(vectorLength(BigInt64Array.of(1n), 'values')).toBe(1);
    for (const other of [3, 'abc', null, { length: 3 }, new DataView(new ArrayBuffer(8))]) {
      expectError(() => vectorLength(other, 'values'), 'TypeError', 'values');
    }
  });
});

describe('indices of sparse values', () => {
  it('are one place per value, nested, flat or as a tensor of rank 1 or 2', () => {
    tf.tidy(() => {
      const forms = [
        [[0, 1], [1, 2]], // prettier-ignore
        [0, 1, 1, 2],
        Int32Array.of(0, 1, 1, 2),
        tf.tensor1d([0, 1, 1, 2], 'int32'),
        tf.tensor2d([[0, 1], [1, 2]], [2, 2], 'int32'), // prettier-ignore
      ];
      for (const indices of forms) {
        const places = readSparse({ indices, values, denseShape }, 'ids');
        expect([...places.indices]).toEqual([0, 1, 1, 2]);
        expect(places.count).toBe(2);
      }
    });
    for (const indices of [[], new Int32Array(0)]) {
      expect(readSparse({ indices, values: [], denseShape }, 'ids').count).toBe(0);
    }
    tf.tidy(() => {
      for (const indices of [tf.zeros([0, 2], 'int32'), tf.zeros([0], 'int32')]) {
        expect(readSparse({ indices, values: [], denseShape }, 'ids').count).toBe(0);
      }
    });
  });

  it('are refused in other shapes, even where their number fits', () => {
    const read = (indices: unknown): (() => unknown) => {
      return () => readSparse({ indices, values, denseShape }, 'ids');
    };
    tf.tidy(() => {
      for (const shape of [
        [4, 1],
        [1, 4],
        [2, 2, 1],
        [1, 2, 2],
      ]) {
        const indices = tf.zeros(shape, 'int32');
        expectError(read(indices), 'ValueError', 'ids.indices', `[${shape.join(', ')}]`);
      }
    });
    const nested = [[[0], [0], [0], [0]], [[0, 0, 0, 0]], [[0, 0, 0], [0]], [[[0, 0], [0, 0]]], [[[0], [0]], [[0], [0]]]]; // prettier-ignore
    for (const indices of nested) expectError(read(indices), 'ValueError', 'ids.indices', 'other lengths');
    expectError(read([0, 0, 0]), 'ValueError', 'ids.indices', '3 numbers');
    expectError(read([[0, 0]]), 'ValueError', 'ids.indices', '2 numbers');
    expectError(() => readSparse({ indices: [[]], values: [], denseShape }, 'ids'), 'ValueError', 'ids.indices');
  });

  it('lie inside denseShape, in row-major order unless order does not matter', () => {
    const read = (indices: number[][], isSorted?: boolean): (() => unknown) => {
      return () => readSparse({ indices, values, denseShape }, 'ids', isSorted);
    };
    expectError(read([[0, 0], [2, 0]]), 'ValueError', 'ids.indices', '2 at position 1'); // prettier-ignore
    expectError(read([[0, 3], [1, 0]]), 'ValueError', 'ids.indices', '3 at position 0'); // prettier-ignore
    expectError(read([[-1, 0], [1, 0]]), 'ValueError', 'ids.indices', '-1 at position 0'); // prettier-ignore
    expectError(read([[1, 0], [0, 2]]), 'ValueError', 'ids.indices', 'an entry out of order at position 1'); // prettier-ignore
    expectError(read([[0, 2], [0, 1]]), 'ValueError', 'ids.indices', 'an entry out of order at position 1'); // prettier-ignore
    // Duplicates are in order, and so is anything where nobody asks for order.
    expect(read([[0, 1], [0, 1]])()).toEqual({ indices: Int32Array.of(0, 1, 0, 1), denseShape, count: 2 }); // prettier-ignore
    expect(read([[1, 0], [0, 2]], false)()).toEqual({ indices: Int32Array.of(1, 0, 0, 2), denseShape, count: 2 }); // prettier-ignore
    expectError(read([[1, 0], [0, 3]], false), 'ValueError', 'ids.indices', '3 at position 1'); // prettier-ignore
  });
});

describe('denseShape', () => {
  it('is an array, a typed array or a tensor of lengths', () => {
    tf.tidy(() => {
      for (const shape of [[2, 3], Int32Array.of(2, 3), tf.tensor1d([2, 3], 'int32')]) {
        expect([...readPlaces({ indices: [], values: [], denseShape: shape }, 'ids').denseShape]).toEqual([2, 3]);
      }
    });
    for (const [shape, type] of [
      [[], 'ValueError'],
      [[2, -1], 'ValueError'],
      [[2, 0.5], 'ValueError'],
      ['2,3', 'TypeError'],
      [undefined, 'TypeError'],
      [7, 'TypeError'],
      [['2', '3'], 'TypeError'],
    ] as const) {
      expectError(() => readPlaces({ indices: [], values: [], denseShape: shape }, 'ids'), type, 'ids.denseShape');
    }
  });
});

describe('comparePlaces', () => {
  it('orders by the first axis that differs', () => {
    const indices = Int32Array.of(0, 5, 1, 0, 1, 2, 1, 2);
    expect(comparePlaces(indices, 2, 0, 1)).toBeLessThan(0);
    expect(Math.sign(comparePlaces(indices, 2, 2, 1))).toBe(1);
    expect(comparePlaces(indices, 2, 2, 3)).toBe(0);
  });
});
