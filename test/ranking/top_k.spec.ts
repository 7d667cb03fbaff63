import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { plainTopK as plain, type Ranked } from './definitions.js';

function ranked(run: () => emb.TopK): Ranked {
  const { values, indices } = run();
  const read = { values: values.arraySync(), indices: indices.arraySync() };
  expect(indices.dtype).toBe('int32');
  tf.dispose([values, indices]);
  return read;
}

const ragged = (rows: number[][]): emb.RaggedTensor => emb.RaggedTensor.fromRows(rows, { dtype: 'int32' });

/** Whole numbers, whose products are exact in any order and often the same. */
function matrix(random: Random, rows: number, dim: number): number[][] {
  return Array.from({ length: rows }, () => Array.from({ length: dim }, () => random.whole(-3, 4)));
}

function lists(random: Random, queries: number, rows: number): number[][] {
  return Array.from({ length: queries }, () => {
    return Array.from({ length: random.whole(0, Math.min(rows, 40)) }, () => random.whole(0, rows));
  });
}

describeForBackends('topK', () => {
  const made: tf.Tensor[] = [];
  const tensor = (rows: number[][], dim: number): tf.Tensor2D => {
    const values = tf.tensor2d(Float32Array.from(rows.flat()), [rows.length, dim]);
    made.push(values);
    return values;
  };
  afterEach(() => tf.dispose(made.splice(0)));

  it('finds what sorting all products finds, ties by the lower id', () => {
    const random = new Random(5);
    // A few queries, panels of 32 that are full or not; columns beside vectors; parts of the rows; more places than rows.
    const sizes = [
      [1, 50, 7, 5],
      [4, 9000, 3, 20],
      [5, 9001, 17, 4],
      [33, 300, 16, 40],
      [70, 129, 33, 10],
      [3, 6, 1, 9],
      [40, 5, 8, 7],
      [90, 60, 2, 3],
    ] as const;
    for (const [queries, rows, dim, k] of sizes) {
      const [q, t] = [matrix(random, queries, dim), matrix(random, rows, dim)];
      const [exclude, only] = [lists(random, queries, rows), lists(random, queries, rows)];
      const [queryTensor, table] = [tensor(q, dim), tensor(t, dim)];
      const before = tf.memory().numTensors;
      const all = ranked(() => emb.topK(queryTensor, table, k));
      const without = ranked(() => emb.topK(queryTensor, table, k, { exclude: ragged(exclude) }));
      const named = ranked(() => emb.topK(queryTensor, table, k, { only: ragged(only), exclude: ragged(exclude) }));
      expect(tf.memory().numTensors).toBe(before);
      expect(all)
        .withContext(`${queries} x ${rows}`)
        .toEqual(plain(q, t, k));
      expect(without)
        .withContext(`${queries} x ${rows}`)
        .toEqual(plain(q, t, k, { exclude }));
      expect(named)
        .withContext(`${queries} x ${rows}`)
        .toEqual(plain(q, t, k, { exclude, only }));
    }
  });

  it('sums up numbers that are not whole to within a millionth', () => {
    const random = new Random(6);
    const numbers = (rows: number): number[][] =>
      Array.from({ length: rows }, () => Array.from({ length: 19 }, () => Math.fround(random.next() - 0.5)));
    for (const queries of [1, 40]) {
      const [q, t] = [numbers(queries), numbers(90)];
      const found = ranked(() => emb.topK(tensor(q, 19), tensor(t, 19), 90));
      const exact = plain(q, t, 90);
      found.values.flat().forEach((value, i) => expect(value).toBeCloseTo(exact.values.flat()[i]!, 5));
      for (const ids of found.indices) expect(new Set(ids).size).toBe(90);
    }
  });

  it('leaves products out that are no numbers, and takes infinity', () => {
    const rows = [[1], [NaN], [Infinity], [-Infinity], [3]];
    for (const queries of [1, 9]) {
      const found = ranked(() => emb.topK(tensor(new Array<number[]>(queries).fill([1]), 1), tensor(rows, 1), 5));
      expect(found.indices[0]).toEqual([2, 4, 0, -1, -1]);
      expect(found.values[0]).toEqual([Infinity, 3, 1, -Infinity, -Infinity]);
    }
  });

  it('gives places without a row where there is none', () => {
    const none = ranked(() => emb.topK(tensor([[1, 2]], 2), tensor([], 2), 2));
    expect(none).toEqual({ values: [[-Infinity, -Infinity]], indices: [[-1, -1]] });
    const excluded = { exclude: ragged([[1, 0, 1]]) };
    expect(ranked(() => emb.topK(tensor([[1]], 1), tensor([[1], [2]], 1), 1, excluded)).indices).toEqual([[-1]]);
    const { values, indices } = emb.topK(tensor([], 2), tensor([[1, 2]], 2), 3);
    expect([values.shape, indices.shape]).toEqual([
      [0, 3],
      [0, 3],
    ]);
    tf.dispose([values, indices]);
    const [q, t] = [tensor([[1], [-1]], 1), tensor([[1], [2]], 1)];
    const far = emb.topK(q, t, 1000);
    expect(far.values.shape).toEqual([2, 1000]);
    expect([...far.indices.dataSync()].filter((id) => id >= 0)).toEqual([1, 0, 0, 1]);
    expect(far.values.dataSync().filter((value) => value === -Infinity).length).toBe(1996);
    expect(far.indices.dataSync().slice(1000, 1003)).toEqual(Int32Array.of(0, 1, -1));
    const exact = emb.topK(q, t, 3, { rerank: { table: t, candidates: 2000 } });
    expect([...exact.indices.dataSync()]).toEqual([1, 0, -1, 0, 1, -1]);
    tf.dispose([q, t, far.values, far.indices, exact.values, exact.indices]);
  });

  it('refuses at once what has no room', () => {
    const [q, t] = [tensor([[1], [-1]], 1), tensor([[1], [2]], 1)];
    expectError(() => emb.topK(q, t, 2e9), 'ValueError', 'k');
    expectError(() => emb.topK(q, t, 2 ** 29 + 1), 'ValueError', 'k');
    tf.dispose([q, t]);
  });

  it('gives the same with any number of threads', () => {
    const random = new Random(8);
    const [q, t] = [matrix(random, 64, 16), matrix(random, 9000, 16)];
    const [queries, table] = [tensor(q, 16), tensor(t, 16)];
    try {
      const found = [1, 2, 5].map((threads) => {
        emb.setThreads(threads);
        const few = queries.slice([0, 0], [2, 16]);
        made.push(few);
        return [ranked(() => emb.topK(queries, table, 9)), ranked(() => emb.topK(few, table, 9))];
      });
      expect(found[1]).toEqual(found[0]);
      expect(found[2]).toEqual(found[0]);
    } finally {
      emb.setThreads(2);
    }
  });

  it('finds in rows of int8, whatever they hold, the first of what it ranks as a whole', () => {
    const random = new Random(31);
    for (const [dim, rows] of [
      [1, 60],
      [7, 900],
      [31, 700],
      [32, 5000],
      [33, 300],
      [70, 2000],
    ] as const) {
      // Codes, and forms that bound nothing: infinite, not a number, below 0, without all bits.
      const scales = [1, 0.01, -0.5, 0, 1e-42, 1e30, Infinity, -Infinity, NaN];
      const words = new Int32Array(rows * (Math.ceil(dim / 4) + 2)).map(() => random.whole(-(2 ** 31), 2 ** 31));
      const forms = new Float32Array(words.buffer);
      const width = words.length / rows;
      for (let row = 1; row <= rows; row++) {
        const isOdd = random.whole(0, 50) === 0;
        forms[row * width - 2] = isOdd ? scales[random.whole(0, scales.length)]! : 0.01 + random.next() / 100;
        forms[row * width - 1] = isOdd ? 10 * (scales[random.whole(0, scales.length)]! || 1) : -1 - random.next();
      }
      const layer = emb.layers.embedding({ inputDim: rows, outputDim: dim, storage: 'int8', trainable: false });
      layer.apply([[0]]);
      const packed = tf.tensor2d(words, [rows, width], 'int32');
      layer.embeddings!.write(packed);
      for (const scale of [1, 1e-20, 1e-35, 1e25]) {
        const query = tensor([Array.from({ length: dim }, () => scale * (random.next() - 0.5))], dim);
        const whole = ranked(() => emb.topK(query, layer, rows));
        const first = ranked(() => emb.topK(query, layer, 5));
        expect(first.indices[0]).toEqual(whole.indices[0]!.slice(0, 5));
        expect(first.values[0]).toEqual(whole.values[0]!.slice(0, 5));
      }
      packed.dispose();
      layer.dispose();
    }
  });
});

describeForBackends('topK of packed tables', () => {
  it('ranks by the numbers that the rows stand for, and by the exact ones where asked to', () => {
    const random = new Random(9);
    const [rows, dim] = [600, 21];
    const numbers = Float32Array.from({ length: rows * dim }, () => random.next() - 0.5);
    for (const dtype of ['int8', 'float16'] as const) {
      const values = tf.tensor2d(numbers, [rows, dim]);
      const model = tf.sequential();
      model.add(emb.layers.embedding({ inputDim: rows, outputDim: dim, inputLength: 1, weights: [values] }) as never);
      const small = emb.quantize(model, { dtype });
      const layer = small.layers.at(-1)!;
      const all = tf.range(0, rows, 1, 'int32').reshape([rows, 1]);
      const kept = (small.predict(all) as tf.Tensor).reshape([rows, dim]) as tf.Tensor2D;
      for (const count of [1, 37]) {
        const queries = tf.tensor2d(numbers.slice(0, count * dim), [count, dim]);
        const ofFloats = ranked(() => emb.topK(queries, kept, 12));
        const ofPacked = ranked(() => emb.topK(queries, layer, 12));
        expect(ofPacked.indices).withContext(dtype).toEqual(ofFloats.indices);
        ofPacked.values.flat().forEach((value, i) => expect(value).toBeCloseTo(ofFloats.values.flat()[i]!, 5));
        const exact = ranked(() => emb.topK(queries, values, 12));
        const reranked = ranked(() => emb.topK(queries, layer, 12, { rerank: { table: model.layers[0]! } }));
        expect(reranked.indices).toEqual(exact.indices);
        const known = emb.RaggedTensor.fromRows(exact.indices, { dtype: 'int32' });
        const options = { rerank: { table: values, candidates: 20 }, exclude: known };
        const others = ranked(() => emb.topK(queries, layer, 12, options));
        expect(others.indices).toEqual(ranked(() => emb.topK(queries, values, 12, { exclude: known })).indices);
        queries.dispose();
      }
      tf.dispose([values, all, kept]);
      model.dispose();
      small.dispose();
    }
  });
});

describe('topK, what it takes', () => {
  let queries: tf.Tensor2D;
  let table: tf.Tensor2D;
  beforeEach(() => {
    queries = tf.zeros([2, 3]);
    table = tf.zeros([4, 3]);
  });
  afterEach(() => tf.dispose([queries, table]));

  it('takes a variable, a layer, its weight and a table of layers', () => {
    const layer = emb.layers.embedding({ inputDim: 4, outputDim: 3 });
    layer.apply(tf.tensor2d([[1]], [1, 1], 'int32')).dispose();
    const shared = emb.embeddingTable({ name: 'items', inputDim: 4, outputDim: 3 });
    const holder = emb.layers.embedding({ table: shared });
    holder.apply(tf.tensor2d([[1]], [1, 1], 'int32')).dispose();
    for (const each of [table.variable(), layer, layer.weights[0]!, shared, holder]) {
      expect(ranked(() => emb.topK(queries, each, 1)).indices.length).toBe(2);
    }
    layer.dispose();
    holder.dispose();
    tf.disposeVariables();
  });

  it('refuses what does not belong together', () => {
    const bad = (argument: string, name: 'TypeError' | 'ValueError', ...args: unknown[]): void => {
      expectError(() => emb.topK(...(args as Parameters<typeof emb.topK>)), name, argument);
    };
    bad('queries', 'TypeError', [[1, 2, 3]], table, 1);
    bad('queries', 'ValueError', tf.zeros([2, 4]), table, 1);
    bad('queries', 'TypeError', tf.zeros([2, 3], 'int32'), table, 1);
    bad('table', 'TypeError', queries, undefined, 1);
    bad('table', 'TypeError', queries, tf.zeros([4, 3], 'int32'), 1);
    bad('table', 'TypeError', queries, {}, 1);
    bad('k', 'ValueError', queries, table, 0);
    bad('k', 'ValueError', queries, table, 1.5);
    bad('k', 'TypeError', queries, table, '3');
    bad('exclude', 'TypeError', queries, table, 1, { exclude: [[1], []] });
    bad('exclude', 'ValueError', queries, table, 1, { exclude: ragged([[1]]) });
    bad('exclude', 'ValueError', queries, table, 1, { exclude: ragged([[1], [4]]) });
    bad('only', 'ValueError', queries, table, 1, { only: ragged([[-1], []]) });
    bad('only', 'TypeError', queries, table, 1, {
      only: emb.RaggedTensor.fromRows([[1], [2]], { dtype: 'float32' }),
    });
    bad('only', 'ValueError', queries, table, 1, { only: emb.RaggedTensor.fromRows([[[1]], [[2]]]) });
    bad('rerank.table', 'ValueError', queries, table, 1, { rerank: { table: tf.zeros([4, 2]) } });
    bad('rerank.candidates', 'ValueError', queries, table, 3, { rerank: { table, candidates: 2 } });
    bad('exlude', 'ValueError', queries, table, 1, { exlude: ragged([[1], []]) });
    tf.disposeVariables();
  });
});
