/** Negatives among the keys of open tables, and evaluation over them: beside the same of row numbers. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { expectError, expectRejection } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';

const DIM = 3;

/** A table of `count` keys, some of them in rows that others had before; `keys` in the order of their rows. */
function drawnTable(random: Random, keys: 'int64' | 'string', count: number) {
  const table = emb.openTable({ outputDim: DIM, capacity: 60, keys, keepTexts: keys === 'string', seed: 1 });
  const keyOf = (n: number): bigint | string =>
    keys === 'string' ? `item ${n}` : BigInt.asIntN(64, BigInt(n) * 0x9e37_79b9_7f4a_7c15n);
  const all = Array.from({ length: count + 5 }, (_, n) => keyOf(n));
  // Vectors of few different numbers, so that scores are often equal.
  const rows = tf.tensor2d(
    all.map(() => Array.from({ length: DIM }, () => random.whole(-1, 2))),
    [all.length, DIM],
  );
  table.upsert(all as bigint[], rows);
  rows.dispose();
  // Rows 3 and 8 are free in the midst, the last three at the end.
  table.remove([3, 8, ...[0, 1, 2].map((i) => count + 2 + i)].map((n) => all[n]!) as bigint[]);
  const left = all.filter((_, n) => n !== 3 && n !== 8 && n < count + 2);
  return { table, keys: left as bigint[], unknown: keyOf(1000) as bigint };
}

function define(): void {
  for (const kind of ['int64', 'string'] as const) {
    it(`are drawn as negatives as row numbers are: ${kind}`, () => {
      const random = new Random(2);
      const { table, keys, unknown } = drawnTable(random, kind, 20);
      const numItems = keys.length;
      expect(table.size()).toBe(numItems);
      const positives = Array.from({ length: 40 }, () => random.whole(0, numItems));
      const seen = Array.from({ length: 7 }, () =>
        Array.from({ length: random.whole(0, 15) }, () => random.whole(0, numItems)),
      );
      const users = positives.map((_, row) => row % seen.length);
      const of = { perPositive: 4, users, seed: 3, step: 5 };
      const numbers = tf.tidy(() => {
        return emb.sampling
          .negatives({ ...of, numItems, positives, seen: emb.RaggedTensor.fromRows(seen) })
          .arraySync();
      });
      const drawn = emb.sampling.negatives({
        ...of,
        table,
        positives: positives.map((n) => keys[n]!),
        // Keys without a row count for nothing.
        seen: seen.map((row) => [unknown, ...row.map((n) => keys[n]!)]),
      });
      expect(drawn.map((row) => Array.from<bigint | string>(row))).toEqual(
        numbers.map((row) => row.map((n) => keys[n]!)),
      );
      expect(Array.isArray(drawn[0])).toBe(kind === 'string');
      table.dispose();
    });
  }

  it('that have no row may be positives', () => {
    const { table, keys, unknown } = drawnTable(new Random(3), 'int64', 4);
    const [drawn] = emb.sampling.negatives({ table, positives: [unknown], perPositive: 400 });
    expect(new Set(drawn as BigInt64Array)).toEqual(new Set(keys) as never);
    const seen = [[...keys.slice(1), unknown]];
    expect(
      new Set<unknown>(
        emb.sampling.negatives({ table, positives: [unknown], perPositive: 9, seen })[0] as BigInt64Array,
      ),
    ).toEqual(new Set([keys[0]]) as never);
    table.dispose();
  });

  it('are drawn by how often steps met them', () => {
    const table = emb.openTable({ outputDim: DIM, capacity: 10, seed: 1 });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    // Key 7 comes once, 8 twice, 9 three times, 10 never.
    for (const keys of [[7, 8, 9], [8, 9], [9]]) {
      optimizer.minimize(() => (emb.embeddingLookup(table, keys) as tf.Tensor).sum());
    }
    table.upsert([10], tf.zeros([1, DIM]));
    const of = { perPositive: 300, seed: 4 };
    const [drawn] = emb.sampling.negatives({ ...of, table, positives: [1], distribution: 'popularity', power: 2 });
    const counts = [7n, 8n, 9n, 10n].map(
      (key) => Array.from(drawn as BigInt64Array).filter((each) => each === key).length,
    );
    expect(counts[3]).toBe(0);
    expect(counts[0]! / 300).toBeCloseTo(1 / 14, 1);
    expect(counts[2]! / 300).toBeCloseTo(9 / 14, 1);
    table.dispose();
  });

  it('are ranked as the rows that they have', async () => {
    for (let number = 0; number < 10; number++) {
      const random = new Random(number);
      const { table, keys, unknown } = drawnTable(random, number % 2 === 0 ? 'int64' : 'string', 20);
      const users = tf.tensor2d(Array.from({ length: 6 }, () => [0, 1, 2].map(() => random.whole(-1, 2))));
      const items = table.lookup(keys);
      const some = (most: number): number[][] => {
        return Array.from({ length: 6 }, () =>
          Array.from({ length: random.whole(0, most) }, () => random.whole(0, 20)),
        );
      };
      const [train, test] = [some(9), some(5)];
      test[0] = [19 - number, 19];
      const sampled = number % 3 === 0 ? some(12) : null;
      const tensors = tf.memory().numTensors;
      const k = 4;
      const rows = (lists: number[][]): emb.RaggedTensor => emb.RaggedTensor.fromRows(lists);
      const expected = await emb.evaluate.ranking(
        { users, items },
        { train: rows(train), test: rows(test), k, perUser: true, sampledCandidates: sampled && rows(sampled) },
      );
      const keysOf = (lists: number[][]): bigint[][] => lists.map((list) => list.map((n) => keys[n]!));
      const found = await emb.evaluate.ranking(
        { users, items: table },
        {
          // What has no row does not count among what users have.
          train: keysOf(train).map((list) => [...list, unknown]),
          test: keysOf(test),
          ...{ k, perUser: true, sampledCandidates: sampled && keysOf(sampled).map((list) => [unknown, ...list]) },
        },
      );
      expect(found).toEqual(expected);
      // A key that nobody can be recommended is one that was missed.
      const missed = await emb.evaluate.ranking(
        { users, items: table },
        { test: users.arraySync().map(() => [unknown, keys[0]!]), k: 30 },
      );
      expect(missed.recall).toBeCloseTo(0.5, 6);
      expect(tf.memory().numTensors).toBe(tensors);
      tf.dispose([users, items]);
      table.dispose();
    }
  });

  it('are refused where they do not fit', async () => {
    const { table } = drawnTable(new Random(5), 'int64', 6);
    const { negatives } = emb.sampling;
    const of = { table, positives: [1, 2], perPositive: 2 };
    expectError(() => negatives({ ...of, table: tf.zeros([2, 2]) as never }), 'TypeError', 'table');
    expectError(() => negatives({ ...of, distribution: 'log-uniform' as never }), 'ValueError', 'distribution');
    expectError(() => negatives({ ...of, positives: [[1], [2]] }), 'ValueError', 'positives');
    expectError(() => negatives({ ...of, positives: ['a'] }), 'TypeError', 'positives');
    expectError(() => negatives({ ...of, seen: [[1]] }), 'ValueError', 'seen');
    expectError(() => negatives({ ...of, seen: [1, 2] }), 'ValueError', 'seen');
    expectError(() => negatives({ ...of, seen: [[1]], users: [0, 1] }), 'ValueError', 'users[1]');
    expectError(() => negatives({ ...of, numItems: 4 } as never), 'ValueError', 'numItems');
    const texts = emb.openTable({ outputDim: DIM, capacity: 4, keys: 'string', seed: 1 });
    expectError(() => negatives({ table: texts, positives: ['a'], perPositive: 1 }), 'ValueError', 'table', 'empty');
    texts.upsert(['b'], tf.zeros([1, DIM]));
    expectError(() => negatives({ table: texts, positives: ['a'], perPositive: 1 }), 'RuntimeError', 'keysOf');
    const { ranking } = emb.evaluate;
    const users = tf.zeros<tf.Rank.R2>([2, DIM]);
    await expectRejection(() => ranking({ users, items: table }, { test: [[1]] }), 'ValueError', 'test', '1 rows');
    await expectRejection(() => ranking({ users, items: table }, {} as never), 'TypeError', 'test');
    const wide = tf.zeros<tf.Rank.R2>([2, DIM + 1]);
    await expectRejection(() => ranking({ users: wide, items: table }, { test: [[1], [2]] }), 'ValueError', 'items');
    tf.dispose([users, wide]);
    texts.dispose();
    table.dispose();
  });
}

describeForBackends('keys of open tables in ranking', define, ['cpu native', 'tensorflow']);
