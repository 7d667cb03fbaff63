/** Steps of models with open tables, captured: rows of keys are found before them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { head, openModel, open, batches, train, predicted } from '../tables/keys/setup.js';

describe('captured steps with open tables', () => {
  let before: string;
  beforeAll(async () => {
    await import('@tensorflow/tfjs-node');
    before = tf.getBackend();
    await tf.setBackend('tensorflow');
  });
  afterAll(async () => {
    await tf.setBackend(before);
  });

  it('are captured, and leave keys, rows and counts as steps op by op do', async () => {
    const args = { capacity: 15, admit: { after: 2 }, evict: { policy: 'lru', keep: 0.8, after: 9 } } as const;
    const runs = [];
    for (const isCaptured of [true, false]) {
      const table = open(args);
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      const model = openModel(table, optimizer);
      emb.setCapture(isCaptured, model);
      const losses = await train(model, batches(30));
      expect(emb.stepInfo(model).captured).toBe(isCaptured);
      const all = batches(30).flatMap(({ keys }) => keys);
      runs.push({ losses, stats: table.stats(), predicted: predicted(model, all) });
      model.dispose();
      optimizer.dispose();
    }
    expect(runs[0]).toEqual(runs[1]!);
    expect(runs[0]!.stats.evicted).toBeGreaterThan(0);
  });

  it('are captured in fit, whose shuffled rows take their keys, of dense and ragged inputs on one table', async () => {
    const runs = [];
    for (const isCaptured of [true, false]) {
      const table = open({ keys: 'int64' });
      const user = emb.input({ shape: [1], dtype: 'int64', name: 'user' });
      const seen = emb.input({ shape: [null], ragged: true, dtype: 'int64', name: 'seen' });
      const rows = [
        emb.layers.embedding({ table, combiner: 'sum' }).apply(user),
        emb.layers.raggedEmbedding({ table, combiner: 'mean' }).apply(seen),
      ] as tf.SymbolicTensor[];
      const model = tf.model({ inputs: [user, seen], outputs: head(tf.layers.add().apply(rows) as tf.SymbolicTensor) });
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      emb.setCapture(isCaptured, model);
      const count = 24;
      const users = BigInt64Array.from({ length: count }, (_, i) => BigInt(i % 5) - 2n);
      const x = {
        user: Array.from(users, (key) => [key]),
        seen: Array.from({ length: count }, (_, i) => Array.from({ length: i % 4 }, (__, k) => i * k + 100)),
      };
      const y = tf.tensor2d(Array.from({ length: count }, (_, i) => [i % 3]));
      const options = { epochs: 6, batchSize: 8, verbose: 0, shuffle: false } as const;
      const { history } = await model.fit(x as never, y, options);
      expect(emb.stepInfo(model).captured)
        .withContext(String(emb.stepInfo(model).reason))
        .toBe(isCaptured);
      runs.push({ loss: history['loss'], stats: table.stats(), predicted: predicted(model, x) });
      model.dispose();
      optimizer.dispose();
      y.dispose();
    }
    expect(runs[0]).toEqual(runs[1]!);
  });
});
