/** Columns of text to ids. */
import * as tf from '@tensorflow/tfjs';
import { kindOf } from '../../../models/wide_and_deep/columns.js';
import { batchOf, Encoder } from '../../../models/wide_and_deep/encoder.js';
import type { TextTable } from '../../../models/wide_and_deep/csv.js';

const train: TextTable = {
  columns: ['age', 'city', 'tags', 'y'],
  rows: [
    ['30', 'Bonn', 'a|b', 'no'],
    ['40', 'Bonn', '', 'no'],
    ['?', 'Ulm', 'b', 'yes'],
    ['40', 'Ulm', 'b|a|c', 'yes'],
    ['50', 'Rom', 'a', 'no'],
  ],
};

describe('the encoder', () => {
  it('infers the kind of a column', () => {
    expect(kindOf(['1', ' 2.5', '-3e2', '?', ''], '|')).toBe('numeric');
    expect(kindOf(['?', ''], '|')).toBe('categorical');
    expect(kindOf(['1', 'x'], '|')).toBe('categorical');
    expect(kindOf(['Infinity', '1'], '|')).toBe('categorical');
    expect(kindOf(['a', 'b|c'], '|')).toBe('ragged');
    expect(kindOf(['a', 'b|c'], ';')).toBe('categorical');
    expect(kindOf(['1|2', '3'], '|')).toBe('ragged');
  });

  const encoder = Encoder.learn(train, 'y', '|');

  it('gives each feature rows of its own', () => {
    // age: unknown and three bins; city: unknown, Ulm, Bonn (Rom was seen once). tags: unknown, b, a (c once).
    expect(encoder.schema()).toEqual({
      singles: { count: 2, rows: 4 + 3 },
      ragged: [{ column: 'tags', rows: 3 }],
    });
  });

  it('encodes training rows, unknown and missing values, and bags', () => {
    const { count, inputs } = encoder.encode(train);
    expect(count).toBe(5);
    // Ids of age: 30 is 1, 40 is 2, 50 is 3. Ids of city start at 4: Ulm 5, Bonn 6, others 4.
    expect([...inputs[0]!.ids]).toEqual([1, 6, 2, 6, 0, 5, 2, 5, 3, 4]);
    expect(inputs[1]!.width).toBe(3);
    expect([...inputs[1]!.ids]).toEqual([2, 1, -1, -1, -1, -1, 1, -1, -1, 1, 2, 0, 2, -1, -1]);
  });

  it('finds columns by name and takes values that training did not have', () => {
    const other: TextTable = { columns: ['tags', 'extra', 'city', 'age'], rows: [['z|a||', 'q', 'Oslo', '999']] };
    const { inputs } = encoder.encode(other);
    expect([...inputs[0]!.ids]).toEqual([3, 4]);
    expect([...inputs[1]!.ids]).toEqual([0, 2]);
  });

  it('is the same after JSON', () => {
    const again = Encoder.fromConfig(JSON.parse(JSON.stringify(encoder.getConfig())) as object[]);
    expect(again.encode(train)).toEqual(encoder.encode(train));
    expect(again.schema()).toEqual(encoder.schema());
  });

  it('sees a column with many values in coarse and in fine bins', () => {
    const rows = Array.from({ length: 1000 }, (_, i) => [String(i), i % 2 === 0 ? 'a' : 'b']);
    const many = Encoder.learn({ columns: ['n', 'y'], rows }, 'y', '|');
    expect(many.schema().singles).toEqual({ count: 2, rows: 17 + 129 });
    const ids = many.encode({ columns: ['n', 'y'], rows }).inputs[0]!.ids;
    const used = (at: number): number => new Set(ids.filter((_, i) => i % 2 === at)).size;
    expect([used(0), used(1)]).toEqual([16, 128]);
  });

  it('makes int32 batches', () => {
    const before = tf.memory().numTensors;
    const batch = batchOf(encoder.encode(train), Int32Array.of(4, 0));
    expect(batch.map(({ shape, dtype }) => [shape, dtype])).toEqual([
      [[2, 2], 'int32'],
      [[2, 3], 'int32'],
    ]);
    expect(batch[0]!.arraySync()).toEqual([
      [3, 4],
      [1, 6],
    ]);
    tf.dispose(batch);
    expect(tf.memory().numTensors).toBe(before);
  });
});
