/** Columns of text to ids. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { TextTable } from '../../../models/wide_and_deep/data.js';
import { batchOf, Encoder, hotnessOf, kindOf, type Feature } from '../../../models/wide_and_deep/features.js';

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

  it('gives each input the rows of its features', () => {
    // age: unknown and three bins; city: unknown, Ulm, Bonn (Rom was seen once). tags: unknown, b, a (c once).
    expect(encoder.inputs.map(({ features, ...input }) => [input, features.map(({ name }) => name)])).toEqual([
      [{ name: 'features_0', width: 1, rows: 4 }, ['age (bins)']],
      [{ name: 'features_1', width: 1, rows: 3 }, ['city (word)']],
      [{ name: 'ragged_0', width: null, rows: 3 }, ['tags (words)']],
    ]);
  });

  it('encodes training rows, unknown and missing values, and bags', () => {
    const { count, inputs } = encoder.encode(train);
    expect(count).toBe(5);
    // Ids of age: 30 is 1, 40 is 2, 50 is 3; of city: Ulm 1, Bonn 2, others 0.
    expect([...inputs[0]!.ids]).toEqual([1, 2, 0, 2, 3]);
    expect([...inputs[1]!.ids]).toEqual([2, 2, 1, 1, 0]);
    expect(inputs[2]!.width).toBe(3);
    expect([...inputs[2]!.ids]).toEqual([2, 1, -1, -1, -1, -1, 1, -1, -1, 1, 2, 0, 2, -1, -1]);
  });

  it('finds columns by name and takes values that training did not have', () => {
    const other: TextTable = { columns: ['tags', 'extra', 'city', 'age'], rows: [['z|a||', 'q', 'Oslo', '999']] };
    const { inputs } = encoder.encode(other);
    expect(inputs.map(({ ids }) => [...ids])).toEqual([[3], [0], [0, 2]]);
  });

  it('takes rows of which no cell has a value', () => {
    const none: TextTable = { columns: train.columns, rows: [['?', '', '', 'no']] };
    expect(encoder.encode(none).inputs.map(({ ids, width }) => [width, ...ids])).toEqual([[1, 0], [1, 0], [0]]);
  });

  it('is the same after JSON', () => {
    const { pipeline, features } = encoder;
    const saved = JSON.parse(JSON.stringify([pipeline.getConfig(), features])) as [object, Feature[]];
    const again = new Encoder(emb.preprocessing.Pipeline.fromConfig(saved[0]), saved[1]);
    expect(again.encode(train)).toEqual(encoder.encode(train));
    expect(again.inputs).toEqual(encoder.inputs);
  });

  it('is a pipeline from values of columns to ids', () => {
    const values = { 'age (bins)': [40, -Infinity], 'city (word)': ['Ulm', 'Rom'], 'tags (words)': [['a', 'z'], []] };
    const made = encoder.pipeline.apply(values);
    expect(Object.keys(made)).toEqual(encoder.features.map(({ name }) => name));
    const [age, city, tags] = Object.values(made) as [tf.Tensor, tf.Tensor, emb.RaggedTensor];
    expect([age.arraySync(), city.arraySync(), tags.toRows()]).toEqual([
      [[2], [0]],
      [[1], [0]],
      [[2, 0], []],
    ]);
    tf.dispose([age, city]);
  });

  it('sees a column with many values in coarse and in fine bins', () => {
    const rows = Array.from({ length: 1000 }, (_, i) => [String(i), i % 2 === 0 ? 'a' : 'b']);
    const many = Encoder.learn({ columns: ['n', 'y'], rows }, 'y', '|');
    expect(many.inputs.map(({ rows }) => rows)).toEqual([17, 129]);
    const { inputs } = many.encode({ columns: ['n', 'y'], rows });
    expect(inputs.map(({ ids }) => new Set(ids).size)).toEqual([16, 128]);
  });

  it('lets features with one id per row share at most eight inputs, each with rows of its own', () => {
    const columns = Array.from({ length: 11 }, (_, i) => `c${i}`);
    // Column i has the values v0 .. v<i + 1>, besides row 0.
    const rows = Array.from({ length: 48 }, (_, r) => columns.map((_, i) => `v${r % (i + 2)}`));
    const wide = Encoder.learn({ columns: [...columns, 'y'], rows: rows.map((row) => [...row, 'a']) }, 'y', '|');
    const schema = wide.inputs;
    expect(schema.map(({ width }) => width)).toEqual([1, 1, 2, 1, 1, 2, 1, 2]);
    expect(schema[2]).toEqual(jasmine.objectContaining({ name: 'features_2', width: 2, rows: 5 + 6 }));
    const { ids } = wide.encode({ columns, rows: [rows[0]!] }).inputs[2]!;
    const [first, second] = [2, 3].map((i) => {
      const { inputs } = Encoder.learn(
        { columns: [columns[i]!], rows: rows.map((row) => [row[i]!]) },
        'none',
        '|',
      ).encode({
        columns,
        rows: [rows[0]!],
      });
      return inputs[0]!.ids[0]!;
    });
    expect([...ids]).toEqual([first!, 5 + second!]);
  });

  it('counts ids per row', () => {
    expect(hotnessOf(encoder.encode(train))).toEqual([1, 1, 7 / 5]);
  });

  it('makes int32 batches', () => {
    const before = tf.memory().numTensors;
    const batch = batchOf(encoder.encode(train), Int32Array.of(4, 0));
    expect(batch.map(({ shape, dtype }) => [shape, dtype])).toEqual([
      [[2, 1], 'int32'],
      [[2, 1], 'int32'],
      [[2, 3], 'int32'],
    ]);
    expect(batch.map((ids) => ids.arraySync())).toEqual([
      [[3], [1]],
      [[0], [2]],
      [
        [2, -1, -1],
        [2, 1, -1],
      ],
    ]);
    tf.dispose(batch);
    expect(tf.memory().numTensors).toBe(before);
  });
});
