/** Tables that are given as values: which, in which form, and how many numbers at once. */
import * as tf from '@tensorflow/tfjs';
import { FLOAT16 } from '../../src/codecs/float16.js';
import { readTableValues, tableTensor } from '../../src/tables/pretrained.js';
import { checkSeed, roundingSeed } from '../../src/tables/table_seed.js';
import { sourcesByName, sourcesInOrder, writeTables, type TableWrite } from '../../src/tables/writes.js';
import { expectError } from '../helpers/errors.js';
import { expectNoLeak } from '../helpers/tensors.js';

describe('Values of a table', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });
  const read = (table: unknown): unknown => readTableValues([table], 2, 3);

  it('are nested or typed arrays, of which they are a copy, or a tensor', () => {
    const flat = Float32Array.of(1, 2, 3, 4, 5, 6);
    const nested = [
      [1, 2, 3],
      [4, 5, 6],
    ];
    for (const given of [flat, nested, nested.map((row) => Float64Array.from(row)), Int32Array.from(flat)]) {
      const values = read(given);
      expect(values).toEqual(flat);
      expect(values).not.toBe(flat);
    }
    tf.tidy(() => {
      const tensor = tf.tensor2d(flat, [2, 3]);
      expect(read(tensor)).toBe(tensor);
      for (const values of [tensor, flat]) {
        const made = tableTensor(values, 2, 3);
        expect([made.shape, Array.from(made.dataSync())]).toEqual([[2, 3], [...flat]]);
        expect(made).not.toBe(tensor);
      }
    });
  });

  it('are words, where rows are packed', () => {
    tf.tidy(() => {
      const form = { codec: FLOAT16, dim: 3 };
      const words = tf.zeros([2, 2], 'int32');
      expect(readTableValues([words], 2, 3, form)).toBe(words);
      const floats = tf.zeros([2, 3]);
      expect(readTableValues([floats], 2, 3, form)).toBe(floats);
      expectError(() => readTableValues([words], 2, 3), 'TypeError', 'weights', 'int32');
      const wrong = tf.zeros([2, 3], 'int32');
      expectError(() => readTableValues([wrong], 2, 3, form), 'ValueError', 'weights', '[2, 3]');
    });
  });

  it('are refused in another form or size', () => {
    for (const [weights, name, received] of [
      [undefined, 'TypeError', 'undefined'],
      [new Float32Array(6), 'TypeError', 'Float32Array'],
      [[], 'ValueError', 'a list of 0'],
      [[1, 2], 'ValueError', 'a list of 2'],
      [[3], 'TypeError', '3'],
      [['path'], 'TypeError', '"path"'],
      [[new Float32Array(5)], 'ValueError', '5'],
      [[[[1, 2, 3]]], 'ValueError', '1 rows'],
      [[[[1, 2, 3], 4]], 'TypeError', '4'],
      [[[[1, 2, 3], [4]]], 'ValueError', '1 numbers in row 1'], // prettier-ignore
      [[[[1, 2, 3], [4, 5, '6']]], 'TypeError', 'string at position 2'], // prettier-ignore
    ] as const)
      expectError(() => readTableValues(weights, 2, 3), name, 'weights', received);
    tf.tidy(() => {
      for (const [shape, text] of [
        [[3, 2], '[3, 2]'],
        [[6], '[6]'],
        [[2, 2], '[2, 2]'],
        [[2, 3, 1], '[2, 3, 1]'],
      ] as const)
        expectError(() => read(tf.zeros([...shape])), 'ValueError', 'weights', text);
      const gone = tf.zeros([2, 3]);
      gone.dispose();
      expectError(() => read(gone), 'ValueError', 'weights', 'disposed');
    });
  });
});

describe('Sources of tables', () => {
  const NAMES = ['users', 'items'];

  it('come in order, one for each table', () => {
    expect(sourcesInOrder([1, 2], NAMES)).toEqual([
      { table: 0, argument: 'weights[0]', values: 1 },
      { table: 1, argument: 'weights[1]', values: 2 },
    ]);
    expectError(() => sourcesInOrder({}, NAMES), 'TypeError', 'weights', '{}');
    expectError(() => sourcesInOrder([1], NAMES), 'ValueError', 'weights', 'a list of 1');
    expect(() => sourcesInOrder([1], NAMES)).toThrowError(/a list of 2 tables: users, items/);
  });

  it('come by name, some of them', () => {
    expect(sourcesByName({ items: 2 }, NAMES)).toEqual([{ table: 1, argument: 'tables["items"]', values: 2 }]);
    expectError(() => sourcesByName([1], NAMES), 'TypeError', 'tables', '[1]');
    expectError(() => sourcesByName({ item: 2 }, NAMES), 'ValueError', 'tables["item"]', 'no table of that name');
    for (const run of [() => sourcesByName({ item: 2 }, NAMES), () => sourcesByName(3, NAMES)])
      expect(run).toThrowError(/users, items/);
  });

  it('are written whole, or to devices in chunks of whole rows', () => {
    expectNoLeak(() => {
      const variable = tf.tidy(() => tf.variable(tf.zeros([5, 2]), false));
      const weight = { read: () => variable, write: (value: tf.Tensor) => variable.assign(value), shape: [5, 2] };
      const values = Float32Array.from({ length: 10 }, (_, i) => i);
      const parts: [number, number[]][] = [];
      const writeRows = (table: tf.Variable, row: number, rows: Float32Array): void => {
        expect(table).toBe(variable);
        parts.push([row, [...rows]]);
      };
      const one = { name: 'users', rows: 5, columns: 2, table: 0, argument: 'weights[0]', values, weight };
      const write = (devices: object | null, options?: unknown): void =>
        writeTables([{ ...one, devices } as unknown as TableWrite], options);
      write(null);
      expect([...variable.dataSync()]).toEqual([...values]);
      write({ writeRows }, { chunkElements: 5 });
      expect(parts).toEqual([
        [0, [0, 1, 2, 3]],
        [2, [4, 5, 6, 7]],
        [4, [8, 9]],
      ]);
      for (const [chunkElements, count] of [
        [1, 5],
        [2, 5],
        [4, 3],
        [10, 1],
        [1000, 1],
        [null, 1],
      ]) {
        // prettier-ignore
        parts.length = 0;
        write({ writeRows }, { chunkElements });
        expect(parts.length).toBe(count!);
        expect(parts.flatMap(([, rows]) => rows)).toEqual([...values]);
      }
      for (const [chunkElements, name] of [
        ['1', 'TypeError'],
        [0, 'ValueError'],
        [1.5, 'ValueError'],
      ] as const)
        // prettier-ignore
        expectError(() => write(null, { chunkElements }), name, 'chunkElements', String(chunkElements));
      expectError(() => write(null, { chunk: 1 }), 'ValueError', 'chunk');
      const wrong = { ...one, devices: null, values: [[1]] } as unknown as TableWrite;
      expectError(() => writeTables([wrong], undefined), 'ValueError', 'weights[0]', '1 rows');
      expectError(() => writeTables([{ ...wrong, values: 3 }], undefined), 'TypeError', 'weights[0]', '3');
      expect(() => writeTables([wrong], undefined)).toThrowError(/table users of shape \[5, 2\]/);
      variable.dispose();
    });
  });
});

describe('Seeds of tables', () => {
  it('are whole numbers, or nothing', () => {
    for (const nothing of [undefined, null]) expect(checkSeed(nothing)).toBeNull();
    for (const seed of [0, -3, 2 ** 60]) expect(checkSeed(seed)).toBe(seed);
    for (const seed of [0.5, NaN, Infinity]) expectError(() => checkSeed(seed), 'ValueError', 'seed', String(seed));
    for (const seed of ['1', true]) expectError(() => checkSeed(seed), 'TypeError', 'seed');
  });

  it('of roundings are at least 0 and below 2^53', () => {
    const seeds = [0, 4, 5, -1, -2, 2 ** 53, 2 ** 53 + 2, -(2 ** 53) - 2];
    expect(seeds.map(roundingSeed)).toEqual([0, 4, 5, 2 ** 53 - 1, 2 ** 53 - 2, 0, 2, 2 ** 53 - 2]);
  });
});
