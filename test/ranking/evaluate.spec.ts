/** Evaluation over all items, beside plain definitions. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { expectRejection } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { warningsWhile } from '../helpers/warnings.js';
import { ITEMS, USERS, scorer } from './scores.js';

const { RaggedTensor } = emb;

interface Case {
  readonly users: number[][];
  readonly items: number[][];
  readonly train: number[][];
  readonly test: number[][];
}

/** Vectors of few different numbers, so that scores are often equal. */
function drawnCase(random: Random): Case {
  const vector = (): number[] => Array.from({ length: 3 }, () => random.whole(-1, 2));
  const some = (most: number): number[] => Array.from({ length: random.whole(0, most) }, () => random.whole(0, ITEMS));
  return {
    users: Array.from({ length: USERS }, vector),
    items: Array.from({ length: ITEMS }, vector),
    train: Array.from({ length: USERS }, () => some(12)),
    test: Array.from({ length: USERS }, () => some(6)),
  };
}

type Row = Record<'recall' | 'precision' | 'hitRate' | 'mrr' | 'map' | 'ndcg', number>;

/** The metrics of a user; null: left out. */
function plainRow(scores: number[], had: number[], held: number[], k: number, among?: number[]): Row | null {
  const positives = [...new Set(held)].filter((item) => !had.includes(item));
  if (positives.length === 0) return null;
  const ranked = scores
    .map((_, item) => item)
    .filter((item) => !had.includes(item) && (among === undefined || [...among, ...positives].includes(item)))
    .sort((a, b) => scores[b]! - scores[a]! || a - b);
  const hits = ranked.slice(0, k).map((item) => Number(positives.includes(item)));
  const sum = (list: number[]): number => list.reduce((total, each) => total + each, 0);
  const gain = (list: number[]): number => sum(list.map((hit, i) => hit / Math.log2(i + 2)));
  return {
    recall: sum(hits) / positives.length,
    precision: sum(hits) / Math.min(k, ranked.length),
    hitRate: Math.max(...hits),
    mrr: Math.max(...hits.map((hit, i) => hit / (i + 1))),
    map: sum(hits.map((hit, i) => (hit * sum(hits.slice(0, i + 1))) / (i + 1))) / positives.length,
    ndcg: gain(hits) / gain(positives.slice(0, k).map(() => 1)),
  };
}

function products({ users, items }: Case): number[][] {
  return users.map((user) => items.map((item) => item.reduce((total, x, i) => total + x * user[i]!, 0)));
}

function expectRows(found: emb.evaluate.RankingResult, rows: readonly (Row | null)[]): void {
  const counted = rows.filter((row): row is Row => row !== null);
  expect(found.users).toBe(counted.length);
  for (const name of Object.keys(counted[0]!) as (keyof Row)[]) {
    const mean = counted.reduce((total, row) => total + row[name], 0) / counted.length;
    expect(found[name]).withContext(name).toBeCloseTo(mean, 5);
    const each = [...found.perUser![name]!];
    expect(each.map(Number.isNaN))
      .withContext(name)
      .toEqual(rows.map((row) => row === null));
    rows.forEach((row, user) => row !== null && expect(each[user]).withContext(`${name} of ${user}`).toBeCloseTo(row[name], 5)); // prettier-ignore
  }
}

describeForBackends(
  'evaluate.ranking',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    it('is what plain definitions give', async () => {
      const random = new Random(5);
      for (const k of [1, 4, 100]) {
        const drawn = drawnCase(random);
        const scores = products(drawn);
        const [users, items] = [tf.tensor2d(drawn.users), tf.tensor2d(drawn.items)];
        const [train, test] = [RaggedTensor.fromRows(drawn.train), RaggedTensor.fromRows(drawn.test)];
        const found = await emb.evaluate.ranking({ users, items }, { train, test, k, perUser: true });
        expectRows(found, scores.map((row, user) => plainRow(row, drawn.train[user]!, drawn.test[user]!, k))); // prettier-ignore
        const alone = await emb.evaluate.ranking({ users, items }, { test, k, perUser: true });
        expectRows(alone, scores.map((row, user) => plainRow(row, [], drawn.test[user]!, k))); // prettier-ignore
        tf.dispose([users, items]);
      }
    });

    it('takes a model, names of metrics, and tells how far it is', async () => {
      const model = scorer();
      const { train, test } = drawnCase(new Random(6));
      const args = { train: RaggedTensor.fromRows(train), test: RaggedTensor.fromRows(test), k: 5 };
      const [items, users] = model.getWeights() as [tf.Tensor2D, tf.Tensor2D];
      const seen: number[] = [];
      const onProgress = (progress: { users: number; of: number }): void => void seen.push(progress.users, progress.of);
      const metrics = ['recall', 'dcg'] as const;
      const byModel = await emb.evaluate.ranking({ model, numItems: ITEMS }, { ...args, metrics, onProgress });
      const byVectors = await emb.evaluate.ranking({ users, items }, { ...args, metrics });
      expect(Object.keys(byModel).sort()).toEqual(['dcg', 'recall', 'users']);
      expect(byModel.recall).toBeCloseTo(byVectors.recall!, 6);
      expect(byModel.dcg).toBeCloseTo(byVectors.dcg!, 6);
      expect(seen).toEqual([byModel.users, byModel.users]);
      model.dispose();
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('evaluate.ranking', () => {
  it('ranks among sampled candidates where it is told to, with a warning', async () => {
    const drawn = drawnCase(new Random(8));
    const [users, items] = [tf.tensor2d(drawn.users), tf.tensor2d(drawn.items)];
    const among = drawn.users.map((_, user) => [user % ITEMS, (3 * user) % ITEMS, (7 * user + 1) % ITEMS]);
    const args = {
      train: RaggedTensor.fromRows(drawn.train),
      test: RaggedTensor.fromRows(drawn.test),
      sampledCandidates: RaggedTensor.fromRows(among),
    };
    let found: emb.evaluate.RankingResult | null = null;
    const warnings = await warningsWhile(async () => {
      found = await emb.evaluate.ranking({ users, items }, { ...args, k: 3, perUser: true });
    });
    expect(warnings.join()).toMatch(/sampled candidates/);
    const scores = products(drawn);
    expectRows(found!, scores.map((row, user) => plainRow(row, drawn.train[user]!, drawn.test[user]!, 3, among[user]!))); // prettier-ignore
    tf.dispose([users, items]);
  });

  it('refuses what does not fit', async () => {
    const [users, items] = [tf.zeros<tf.Rank.R2>([2, 3]), tf.zeros<tf.Rank.R2>([4, 3])];
    const { ranking } = emb.evaluate;
    const test = RaggedTensor.fromRows([[1], [2]]);
    const of = { users, items };
    await expectRejection(() => ranking(3 as never, { test }), 'TypeError', 'of');
    await expectRejection(() => ranking({ users } as never, { test }), 'TypeError', 'items');
    await expectRejection(() => ranking({ users, items: users.reshape([3, 2]) }, { test }), 'ValueError', 'items');
    await expectRejection(() => ranking(of, { test: [[1], [2]] as never }), 'TypeError', 'test');
    await expectRejection(() => ranking(of, { test: RaggedTensor.fromRows([[1]]) }), 'ValueError', 'test');
    await expectRejection(() => ranking(of, { test: RaggedTensor.fromRows([[4], []]) }), 'ValueError', 'test', '4');
    await expectRejection(() => ranking(of, { test, train: test }), 'ValueError', 'test', 'none');
    await expectRejection(() => ranking(of, { test, k: 0 }), 'ValueError', 'k');
    await expectRejection(() => ranking(of, { test, metrics: ['auc' as never] }), 'ValueError', 'metrics', 'auc');
    await expectRejection(() => ranking({ model: 1 as never, numItems: 2 }, { test }), 'TypeError', 'model');
    tf.dispose([users, items]);
  });
});
