import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';

const ragged = (rows: number[][], dtype: 'int32' | 'float32' = 'int32'): emb.RaggedTensor =>
  emb.RaggedTensor.fromRows(rows, { dtype });

/** What is left of the normal equations when x is put in: zeros, for the solution. */
function residual(
  rows: number[][],
  x: number[],
  ids: number[],
  weights: number[],
  regularization: number,
  ofAll: number,
): number[] {
  const dot = (a: number[], b: number[]): number => a.reduce((sum, each, i) => sum + each * b[i]!, 0);
  return x.map((own, c) => {
    const known = ids.reduce((sum, id, i) => sum + weights[i]! * rows[id]![c]! * (dot(rows[id]!, x) - 1), 0);
    const all = rows.reduce((sum, row) => sum + ofAll * row[c]! * dot(row, x), 0);
    return regularization * own + known + all;
  });
}

describeForBackends('foldIn', () => {
  const random = new Random(4);
  const rows = Array.from({ length: 60 }, () => Array.from({ length: 9 }, () => Math.fround(random.next() - 0.5)));
  const ids = Array.from({ length: 11 }, (_, u) => Array.from({ length: 3 * u }, () => random.whole(0, 60)));
  const weights = ids.map((of) => of.map(() => Math.fround(random.next() * 3)));

  it('solves the equations of every user', () => {
    const table = tf.tensor2d(rows);
    const before = tf.memory().numTensors;
    for (const [isWeighted, unobservedWeight] of [
      [false, 0],
      [true, 0],
      [true, 0.05],
    ] as const) {
      const args = { ids: ragged(ids), regularization: 0.2, unobservedWeight };
      const users = emb.foldIn(table, isWeighted ? { ...args, weights: ragged(weights, 'float32') } : args);
      expect(users.shape).toEqual([11, 9]);
      const found = users.arraySync() as number[][];
      found.forEach((x, u) => {
        const of = isWeighted ? weights[u]! : ids[u]!.map(() => 1);
        const left = residual(rows, x, ids[u]!, of, 0.2, unobservedWeight);
        for (const each of left)
          expect(Math.abs(each))
            .withContext(`user ${u}`)
            .toBeLessThan(2e-6 * (1 + ids[u]!.length));
      });
      expect(found[0]).toEqual(new Array(9).fill(0));
      users.dispose();
    }
    expect(tf.memory().numTensors).toBe(before);
    table.dispose();
  });

  it('takes the products of all rows from whoever has them', () => {
    const table = tf.tensor2d(rows) as tf.Tensor2D;
    const args = { ids: ragged(ids), regularization: 0.2, unobservedWeight: 0.05 };
    const before = tf.memory().numTensors;
    const gram = tf.matMul(table, table, true) as tf.Tensor2D;
    const [computed, given] = [emb.foldIn(table, args), emb.foldIn(table, { ...args, gram })];
    const expected = computed.dataSync();
    given.dataSync().forEach((x, i) => expect(x).toBeCloseTo(expected[i]!, 5));
    // Others give others, and none counts without a weight.
    const twice = gram.mul(2) as tf.Tensor2D;
    const other = emb.foldIn(table, { ...args, gram: twice });
    const half = emb.foldIn(table, { ...args, unobservedWeight: 0.025, gram: twice });
    expect(other.dataSync()).not.toEqual(expected);
    half.dataSync().forEach((x, i) => expect(x).toBeCloseTo(expected[i]!, 5));
    const unweighted = { ...args, unobservedWeight: 0 };
    const [without, ignored] = [emb.foldIn(table, unweighted), emb.foldIn(table, { ...unweighted, gram: twice })];
    expect(ignored.dataSync()).toEqual(without.dataSync());
    tf.dispose([gram, twice, computed, given, other, half, without, ignored]);
    expect(tf.memory().numTensors).toBe(before);
    table.dispose();
  });

  it('gives one user a vector, from packed rows too', () => {
    const values = tf.tensor2d(rows);
    const model = tf.sequential();
    model.add(emb.layers.embedding({ inputDim: 60, outputDim: 9, inputLength: 1, weights: [values] }) as never);
    const small = emb.quantize(model, { dtype: 'float16' });
    const [exact, packed] = [values, small.layers.at(-1)!].map((table) => {
      return emb.foldIn(table, { ids: [3, 1, 3], weights: [1, 0.5, 2], regularization: 0.1, unobservedWeight: 0.01 });
    });
    expect(exact!.shape).toEqual([9]);
    const others = packed!.dataSync();
    exact!.dataSync().forEach((x, i) => expect(others[i]).toBeCloseTo(x, 2));
    tf.dispose([values, exact!, packed!]);
    model.dispose();
    small.dispose();
  });

  it('takes keys of an open table, and its rows in use alone', () => {
    const before = tf.memory().numTensors;
    const open = emb.openTable({ outputDim: 9, capacity: 70, keys: 'string', seed: 1 });
    const name = (id: number): string => `item ${id}`;
    const all = tf.tensor2d(rows);
    open.upsert([...rows.keys()].map(name), all);
    // A row that a key had is none of them.
    const gone = tf.ones([1, 9]);
    open.upsert(['gone'], gone);
    open.remove(['gone']);
    for (const unobservedWeight of [0, 0.3]) {
      const of = { regularization: 0.2, unobservedWeight };
      const plain = emb.foldIn(all, { ids: ragged(ids), ...of });
      const keys = ids.map((user) => [...user.map(name), 'gone', 'never there']);
      const found = emb.foldIn(open, { ids: keys, ...of });
      expect(found.shape).toEqual(plain.shape);
      const expected = plain.dataSync();
      found.dataSync().forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 5));
      const weights = [2, 5, 0.5];
      const one = emb.foldIn(open, { ids: [name(4), 'never there', name(7)], weights, ...of });
      const alone = emb.foldIn(all, { ids: [4, 7], weights: [2, 0.5], ...of });
      const wanted = alone.dataSync();
      one.dataSync().forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 5));
      tf.dispose([plain, found, one, alone]);
    }
    expectError(() => emb.foldIn(open, { ids: [1, 2] as never, regularization: 1 }), 'TypeError', 'ids');
    const candidates = open as never;
    expectError(() => emb.layers.bruteForceRetrieval({ candidates, k: 1 }), 'ValueError', 'candidates');
    const rerank = { table: candidates };
    expectError(() => emb.topK(all, all, 1, { rerank }), 'ValueError', 'rerank.table');
    open.dispose();
    tf.dispose([all, gone]);
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('foldIn, what it takes', () => {
  it('refuses what is not there and what has no least squares', () => {
    const table = tf.zeros([4, 3]) as tf.Tensor2D;
    const bad = (argument: string, name: 'TypeError' | 'ValueError', args: object): void => {
      expectError(() => emb.foldIn(table, { ids: [1], regularization: 1, ...args } as emb.FoldInArgs), name, argument);
    };
    bad('ids', 'ValueError', { ids: [4] });
    bad('ids', 'ValueError', { ids: ragged([[0], [-1]]) });
    bad('ids', 'TypeError', { ids: null });
    bad('weights', 'ValueError', { weights: [-1] });
    bad('weights', 'ValueError', { weights: [NaN] });
    bad('weights', 'ValueError', { weights: [1, 2] });
    bad('regularization', 'ValueError', { regularization: 0 });
    bad('regularization', 'TypeError', { regularization: '1' });
    bad('unobservedWeight', 'ValueError', { unobservedWeight: -1 });
    const wide = tf.zeros([3, 4]);
    const whole = tf.zeros([3, 3], 'int32');
    bad('gram', 'ValueError', { gram: wide });
    bad('gram', 'TypeError', { gram: whole });
    bad('gram', 'TypeError', { gram: [[1]] });
    tf.dispose([wide, whole]);
    bad('reg', 'ValueError', { reg: 1 });
    expectError(() => emb.foldIn([] as never, { ids: [1], regularization: 1 }), 'TypeError', 'table');
    table.dispose();
  });
});
