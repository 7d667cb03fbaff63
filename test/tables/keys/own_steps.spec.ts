/** Adam on open tables: bias corrections go by the steps that each row has had, against a plain model of single rows. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { NaiveOptimizer, type NaiveConfig } from '../../helpers/naive_optimizer.js';
import { Random } from '../../helpers/random.js';
import { artifactsOf, expectClose, leakFree, reload, take } from '../../layers/setup.js';
import { batches, DIM, open, openModel, startOf, train } from './setup.js';

type Name = 'adam' | 'adamW';

const CASES: readonly (readonly [Name, NaiveConfig])[] = [
  ['adam', { learningRate: 0.05 }],
  ['adam', { learningRate: 0.05, beta1: 0.5, beta2: 0.7, epsilon: 0.01, sumInsideSqrt: true }],
  ['adam', { learningRate: 0.05, beta1: 0, beta2: 0, epsilon: 0.01 }],
  ['adam', { learningRate: 0.05, amsgrad: true, epsilon: 0.01 }],
  ['adam', { learningRate: 0.05, amsgrad: true, epsilon: 0.01, sumInsideSqrt: true, lazy: false }],
  ['adam', { learningRate: 0.05, lazy: false, clipValue: 0.7 }],
  ['adam', { learningRate: 0.05, biasCorrection: false, epsilon: 0.01 }],
  ['adamW', { learningRate: 0.05, weightDecay: 0.3, epsilon: 0.01 }],
  ['adamW', { learningRate: 0.05, amsgrad: true, epsilon: 0.01 }],
  ['adamW', { learningRate: 0.05, lazy: false, weightDecay: 0.3, epsilon: 0.01 }],
];

/** The optimizer of ours, and a plain one for each row. */
function pair([name, config]: readonly [Name, NaiveConfig]): {
  ours: emb.SparseOptimizer;
  plain: () => NaiveOptimizer;
} {
  return { ours: emb.train[name](config as never), plain: () => new NaiveOptimizer(name, config) };
}

function step(optimizer: emb.SparseOptimizer, table: emb.OpenTable, keys: number[], factors: number[][]): void {
  tf.tidy(() => {
    const by = tf.tensor2d(factors);
    optimizer.minimize(() => (emb.embeddingLookup(table, keys) as tf.Tensor).mul(by).sum());
  });
}

describeForBackends('Adam of open tables', ({ backend }) => {
  for (const each of CASES) {
    it(
      `corrects by the steps of each row: ${each[0]} ${JSON.stringify(each[1])}`,
      leakFree(() => {
        const random = new Random(3);
        const table = open({ keys: 'int64' });
        const { ours, plain } = pair(each);
        const known = new Map<number, { row: number[][]; by: NaiveOptimizer }>();
        for (let time = 0; time < 40; time++) {
          // New keys come as it goes on.
          const keys = Array.from({ length: 6 }, () => random.whole(0, 4 + time));
          const factors = keys.map(() => [...random.floats(DIM, -1, 1)]);
          step(ours, table, keys, factors);
          const gradients = new Map<number, number[]>();
          keys.forEach((key, i) => {
            const before = gradients.get(key) ?? [0, 0, 0];
            gradients.set(
              key,
              before.map((value, c) => value + factors[i]![c]!),
            );
            if (!known.has(key)) known.set(key, { row: [startOf(key)], by: plain() });
          });
          for (const [key, { row, by }] of known) {
            const gradient = gradients.get(key);
            if (gradient !== undefined) by.step(row, new Map([[0, gradient]]));
            else if (each[1].lazy === false) by.step(row, new Map());
          }
        }
        const found = take(table.lookup([...known.keys()]));
        expectClose(
          found,
          [...known.values()].flatMap(({ row }) => row[0]!),
          2e-5,
        );
        ours.dispose();
        table.dispose();
      }),
    );
  }

  it(
    'takes a first step of one learning rate whenever a key comes, and when it comes back',
    leakFree(() => {
      for (const [name, config] of [
        ['adam', {}],
        ['adam', { amsgrad: true }],
        ['adamW', { weightDecay: 0 }],
      ] as const) {
        const table = open({ keys: 'int64' });
        const optimizer = emb.train[name]({ learningRate: 0.125, epsilon: 1e-12, ...config } as never);
        const up = (key: number): void => step(optimizer, table, [key], [[2, -1, 0.5]]);
        for (let time = 0; time < 900; time++) up(1);
        const first = startOf(2).map((w, c) => w - [0.125, -0.125, 0.125][c]!);
        up(2);
        expectClose(take(table.lookup([2])), first, 1e-6);
        up(2);
        table.remove([2]);
        up(2);
        expectClose(take(table.lookup([2])), first, 1e-6);
        optimizer.dispose();
        table.dispose();
      }
    }),
  );

  it(
    'steps rows that come from the start as those of a plain table',
    leakFree(() => {
      const random = new Random(4);
      const table = open({ keys: 'int64' });
      const keys = [7, 8, 9];
      const plain = tf.tidy(() => tf.variable(tf.tensor2d(keys.map((key) => startOf(key)))));
      const [ours, theirs] = [emb.train.adam({ learningRate: 0.1 }), emb.train.adam({ learningRate: 0.1 })];
      for (let time = 0; time < 50; time++) {
        const factors = keys.map(() => [...random.floats(DIM, -1, 1)]);
        step(ours, table, keys, factors);
        tf.tidy(() => {
          const by = tf.tensor2d(factors);
          theirs.minimize(() => emb.embeddingLookup(plain, [0, 1, 2]).mul(by).sum());
        });
      }
      expectClose(take(table.lookup(keys)), [...plain.dataSync()], 2e-4);
      tf.dispose(plain);
      ours.dispose();
      theirs.dispose();
      table.dispose();
    }),
  );

  it(
    'goes on to the bit from what a model saved, and misses counts that are not there',
    leakFree(async () => {
      const all = batches(12);
      const optimizer = emb.train.adam({ learningRate: 0.1, amsgrad: true });
      const model = openModel(open({ capacity: 12 }), optimizer);
      await train(model, all.slice(0, 5));
      const saved = await artifactsOf(model, { includeOptimizer: true });
      const again = await reload(saved);
      expect(await train(again, all.slice(5))).toEqual(await train(model, all.slice(5)));
      const state = (await optimizer.getWeights()) as unknown as { name: string; tensor: tf.Tensor }[];
      const counts = state.filter(({ name }) => name.endsWith('/steps'));
      expect(counts.map(({ tensor }) => tensor.shape)).toEqual([[12]]);
      const other = emb.train.adam({ learningRate: 0.1, amsgrad: true });
      const without = state.filter((each) => !counts.includes(each)) as never;
      await expectAsync(other.setWeights(without)).toBeRejectedWithError(/steps/);
      other.dispose();
      model.dispose();
      again.optimizer.dispose();
      again.dispose();
      optimizer.dispose();
    }),
  );

  if (backend !== 'tensorflow') return;

  it(
    'gives the same bits in captured steps',
    leakFree(async () => {
      const all = batches(30);
      for (const config of [{}, { amsgrad: true }, { lazy: false }]) {
        const losses: number[][] = [];
        for (const isCaptured of [true, false]) {
          const optimizer = emb.train.adam({ learningRate: 0.1, ...config });
          const model = openModel(open({ capacity: 16 }), optimizer);
          emb.setCapture(isCaptured, model);
          losses.push(await train(model, all));
          expect(emb.stepInfo(model).captured).toBe(isCaptured);
          model.dispose();
          optimizer.dispose();
        }
        expect(losses[0]).toEqual(losses[1]!);
      }
    }),
  );
});
