import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';
import { plainTopK, type Ranked } from '../definitions.js';

const ragged = (rows: number[][]): emb.RaggedTensor => emb.RaggedTensor.fromRows(rows, { dtype: 'int32' });

function read({ values, indices }: emb.TopK): Ranked {
  const found = { values: values.arraySync(), indices: indices.arraySync() };
  tf.dispose([values, indices]);
  return found;
}

/** Rows around centers. */
function clustered(random: Random, rows: number, dim: number, clusters = 20): number[][] {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const centers = Array.from({ length: clusters }, () => Array.from({ length: dim }, normal));
  return Array.from({ length: rows }, () => random.pick(centers).map((x) => Math.fround(x + 0.3 * normal())));
}

/** Whole numbers, whose products are exact and often the same. */
function whole(random: Random, rows: number, dim: number): number[][] {
  return Array.from({ length: rows }, () => Array.from({ length: dim }, () => random.whole(-3, 4)));
}

function recall(found: Ranked, exact: Ranked): number {
  const hits = exact.indices.map((ids, q) => ids.filter((id) => found.indices[q]!.includes(id)).length);
  return hits.reduce((a, b) => a + b) / exact.indices.flat().length;
}

const search = (
  index: emb.ann.AnnIndex,
  queries: number[][],
  k: number,
  options?: emb.ann.AnnSearchOptions,
): Ranked => {
  const tensor = tf.tensor2d(queries);
  const found = read(index.search(tensor, k, options));
  tensor.dispose();
  return found;
};

/** Of what the reference kernels give. */
const HASHES = [-361973031, -1910122080];

describeForBackends('an index', () => {
  it('that looks at all lists finds what sorting all products finds', () => {
    const random = new Random(21);
    for (const [rows, dim, lists, queries, k] of [
      [1, 3, 1, 2, 4],
      [40, 1, 40, 3, 5],
      [300, 7, 11, 1, 20],
      [500, 19, 5, 40, 3],
    ] as const) {
      const [t, q] = [whole(random, rows, dim), whole(random, queries, dim)];
      const exclude = Array.from({ length: queries }, () =>
        Array.from({ length: random.whole(0, 9) }, () => random.whole(0, rows)),
      );
      for (const codes of ['none', 'int8'] as const) {
        const before = tf.memory().numTensors;
        const index = emb.ann.build(t, { lists, codes, seed: 3 });
        expect([index.size, index.lists, index.dim, index.codes]).toEqual([rows, lists, dim, codes]);
        // All rows are ranked by themselves: codes could order equals otherwise.
        const options = { probes: lists, rerank: codes === 'none' ? k : Math.max(k, rows) };
        expect(search(index, q, k, options))
          .withContext(`${rows} rows`)
          .toEqual(plainTopK(q, t, k));
        const without = search(index, q, k, { ...options, exclude: ragged(exclude) });
        expect(without).toEqual(plainTopK(q, t, k, { exclude }));
        expect(tf.memory().numTensors).toBe(before);
      }
    }
  });

  it('finds nearly all that there is in a few lists, more in more lists', () => {
    const random = new Random(22);
    const [t, q] = [clustered(random, 3000, 16), clustered(random, 30, 16)];
    const exact = plainTopK(q, t, 10);
    const index = emb.ann.build(t, { lists: 64 });
    const [few, more] = [2, 32].map((probes) => recall(search(index, q, 10, { probes }), exact));
    expect(more!).toBeGreaterThan(0.97);
    expect(few!).toBeLessThan(more!);
    const floats = emb.ann.build(t, { lists: 64, codes: 'none' });
    expect(recall(search(floats, q, 10, { probes: 64 }), exact)).toBe(1);
    // By codes alone, without rows to rank by, it finds most.
    const small = emb.ann.build(t, { lists: 64, keepRows: false });
    expect(recall(search(small, q, 10, { probes: 64 }), exact)).toBeGreaterThan(0.9);
  });

  it('ranks by cosines where it is told to', () => {
    const random = new Random(23);
    const [t, q] = [clustered(random, 400, 8), clustered(random, 5, 8)];
    t[7] = new Array<number>(8).fill(0);
    const unit = (row: number[]): number[] => row.map((x) => x / (Math.hypot(...row) || 1));
    const exact = plainTopK(q.map(unit), t.map(unit), 6);
    const index = emb.ann.build(t, { lists: 10, metric: 'cosine' });
    const found = search(index, q, 6, { probes: 10, rerank: 400 });
    expect(found.indices).toEqual(exact.indices);
    found.values.flat().forEach((value, i) => expect(value).toBeCloseTo(exact.values.flat()[i]!, 6));
    const scaled = search(
      index,
      q.map((row) => row.map((x) => 1000 * x)),
      6,
      { probes: 10, rerank: 400 },
    );
    expect(scaled.indices).toEqual(exact.indices);
    expect(search(index, [new Array<number>(8).fill(0)], 2, { probes: 10 }).values).toEqual([[0, 0]]);
    // Rows that come later are compared at length 1 too.
    index.add([900], [q[0]!.map((x) => 7 * x)]);
    const [[best]] = search(index, q.slice(0, 1), 1, { probes: 10 }).values as [[number]];
    expect(best).toBeCloseTo(1, 6);
    expect(search(index, q.slice(0, 1), 1, { probes: 10 }).indices).toEqual([[900]]);
  });

  it('gives the same values and ids on each backend', () => {
    const random = new Random(24);
    const [t, q] = [clustered(random, 1500, 24, 9), clustered(random, 12, 24, 9)];
    const found = (['dot', 'cosine'] as const).map((metric) => {
      return search(emb.ann.build(t, { lists: 40, metric, seed: 9 }), q, 7, { probes: 5 });
    });
    const hash = found.map(({ values, indices }) => {
      const words = new Uint32Array(Float32Array.from(values.flat()).buffer);
      return [...words, ...indices.flat()].reduce((sum, word) => (Math.imul(sum, 31) + word) | 0, 7);
    });
    expect(hash).toEqual(HASHES);
  });

  it('grows, shrinks and takes other rows for ids, as one that is built of what is left', () => {
    const random = new Random(25);
    const rows = new Map<number, number[]>(whole(random, 200, 6).map((row, id) => [id, row]));
    for (const codes of ['none', 'int8'] as const) {
      const kept = new Map(rows);
      const index = emb.ann.build([...kept.values()], { lists: 9, codes });
      for (let round = 0; round < 30; round++) {
        const fresh = new Set(Array.from({ length: random.whole(1, 40) }, () => random.whole(0, 400)));
        const added = whole(random, fresh.size, 6);
        index.add([...fresh], added);
        [...fresh].forEach((id, i) => kept.set(id, added[i]!));
        const gone = Array.from({ length: random.whole(0, 50) }, () => random.whole(0, 400));
        const there = new Set(gone.filter((id) => kept.has(id)));
        expect(index.remove(gone)).toBe(there.size);
        for (const id of there) kept.delete(id);
        expect(index.size).toBe(kept.size);
      }
      const ids = [...kept.keys()].sort((a, b) => a - b);
      const q = whole(random, 6, 6);
      const exact = plainTopK(
        q,
        ids.map((id) => kept.get(id)!),
        12,
      );
      const named = exact.indices.map((places) => places.map((place) => (place < 0 ? -1 : ids[place]!)));
      const found = search(index, q, 12, { probes: 9, rerank: 400 });
      expect(found).toEqual({ values: exact.values, indices: named });
      expect(index.remove(ids)).toBe(ids.length);
      expect(search(index, q, 2).indices.flat()).toEqual(new Array<number>(12).fill(-1));
      index.add([7], [[1, 0, 0, 0, 0, 0]]);
      expect(search(index, [[2, 0, 0, 0, 0, 0]], 2, { probes: 9 })).toEqual({
        values: [[2, -Infinity]],
        indices: [[7, -1]],
      });
    }
  });

  it('gives no rows where queries are no numbers', () => {
    const index = emb.ann.build(clustered(new Random(26), 90, 4), { lists: 4 });
    expect(search(index, [[NaN, 1, 1, 1]], 2)).toEqual({ values: [[-Infinity, -Infinity]], indices: [[-1, -1]] });
    expect(search(index, [[Infinity, 0, 0, 0]], 2, { probes: 1 }).values[0]![0]).not.toBeNaN();
  });
});

describe('an index, what it takes', () => {
  const t = whole(new Random(27), 50, 4);

  it('takes tables as topK does, and topK takes it', () => {
    const table = tf.tensor2d(t);
    const index = emb.ann.build(table, { lists: 5, ids: t.map((_, i) => 1000 + i) });
    const queries = tf.tensor2d([[1, 2, 3, 4]]);
    const [a, b] = [read(emb.topK(queries, index, 3, { probes: 5 })), read(emb.topK(queries, table, 3))];
    expect(a.indices[0]!.map((id) => id - 1000)).toEqual(b.indices[0]!);
    expect(index.has(1049)).toBe(true);
    expect(index.has(0)).toBe(false);
    const layer = emb.layers.embedding({ inputDim: 50, outputDim: 4, weights: [table] });
    layer.apply([[0]]);
    expect(read(emb.ann.build(layer, { lists: 5 }).search(queries, 3, { probes: 5 })).indices).toEqual(b.indices);
    tf.dispose([table, queries]);
    layer.dispose();
  });

  it('tells how far it is', () => {
    const told: [number, number][] = [];
    emb.ann.build(t, { lists: 5, onProgress: (done, of) => told.push([done, of]) });
    expect(told.at(-1)).toEqual([told.length, told.length]);
  });

  it('has lists in all where rows are the same or fewer than usual', () => {
    const same = emb.ann.build(new Array<number[]>(30).fill([1, 2]), { lists: 7 });
    expect(search(same, [[1, 1]], 4, { probes: 7 }).values).toEqual([[3, 3, 3, 3]]);
    expect(search(same, [[1, 1]], 4, { probes: 7 }).indices).toEqual([[0, 1, 2, 3]]);
    expect(emb.ann.build([[5]]).lists).toBe(1);
    // Far from zero, rows are told apart all the same.
    const far = Array.from({ length: 64 }, (_, i) => [1e6 + (i % 8), 1e6 - (i >> 3)]);
    const index = emb.ann.build(far, { lists: 64, codes: 'none' });
    expect(search(index, [[1, 0]], 1, { probes: 64 }).values).toEqual([[1e6 + 7]]);
  });

  it('refuses what does not belong together', () => {
    const index = emb.ann.build(t, { lists: 5 });
    const build = (name: 'TypeError' | 'ValueError', argument: string, table: unknown, options?: object): void => {
      expectError(() => emb.ann.build(table as never, options as never), name, argument);
    };
    build('TypeError', 'table', undefined);
    build('TypeError', 'table', [[1], [1, 2]]);
    build('TypeError', 'table', tf.zeros([3, 2], 'int32'));
    build('ValueError', 'table', tf.zeros([0, 2]));
    build('ValueError', 'table', [[1, NaN]]);
    build('ValueError', 'table', [[1, Infinity]], { codes: 'none' });
    build('ValueError', 'table', [[3e38, -3e38]]);
    build('ValueError', 'lists', t, { lists: 51 });
    build('ValueError', 'lists', t, { lists: 0 });
    build('ValueError', 'codes', t, { codes: 'int4' });
    build('TypeError', 'metric', t, { metric: 3 });
    build('ValueError', 'seed', t, { seed: -1 });
    build('ValueError', 'ids', t, { ids: [1] });
    build('ValueError', 'ids', [[1], [2]], { ids: [4, 4] });
    build('ValueError', 'ids', [[1], [2]], { ids: [4, -4] });
    build('TypeError', 'keepRows', t, { keepRows: 1 });
    build('TypeError', 'onProgress', t, { onProgress: 1 });
    build('ValueError', 'list', t, { list: 4 });
    const queries = tf.zeros<tf.Rank.R2>([2, 4]);
    const bad = (name: 'TypeError' | 'ValueError', argument: string, ...args: unknown[]): void => {
      expectError(() => index.search(...(args as Parameters<typeof index.search>)), name, argument);
    };
    bad('TypeError', 'queries', [[1, 2, 3, 4]], 1);
    bad('ValueError', 'queries', tf.zeros([2, 3]), 1);
    bad('ValueError', 'k', queries, 0);
    bad('TypeError', 'k', queries, '1');
    bad('ValueError', 'k', queries, 2 ** 30);
    bad('ValueError', 'probes', queries, 1, { probes: 0 });
    bad('ValueError', 'rerank', queries, 3, { rerank: 2 });
    bad('TypeError', 'exclude', queries, 1, { exclude: [[1], []] });
    bad('ValueError', 'exclude', queries, 1, { exclude: ragged([[1]]) });
    bad('ValueError', 'exclude', queries, 1, { exclude: ragged([[-1], []]) });
    bad('ValueError', 'only', queries, 1, { only: ragged([[1], []]) });
    expectError(() => index.add([1, 2], [[1, 2, 3, 4]]), 'ValueError', 'ids');
    expectError(() => index.add([1], [[1, 2, 3]]), 'ValueError', 'rows');
    expectError(() => index.add([1, 1], t.slice(0, 2)), 'ValueError', 'ids');
    expectError(() => index.add([0.5], t.slice(0, 1)), 'ValueError', 'ids');
    expectError(() => index.add([1], [[1, 2, 3, NaN]]), 'ValueError', 'rows');
    expect(index.size).toBe(50);
    expect(index.remove([-5, 2e9])).toBe(0);
    tf.disposeVariables();
    queries.dispose();
  });
});
