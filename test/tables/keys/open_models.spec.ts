/** Models that look rows up by keys: against plain tables, over backends and files. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { artifactsOf, expectClose, leakFree, reload, take } from '../../layers/setup.js';
import { DIM, CAPACITY, startOf, head, openModel, open, batches, train, predicted } from './setup.js';

const OPTIMIZERS: Readonly<Record<string, () => tf.Optimizer>> = {
  sgd: () => emb.train.sgd({ learningRate: 0.1 }),
  adagrad: () => emb.train.adagrad({ learningRate: 0.1 }),
  ftrl: () => emb.train.ftrl({ learningRate: 0.1 }),
  rowWiseAdagrad: () => emb.train.rowWiseAdagrad({ learningRate: 0.1 }),
};

describeForBackends('open tables', () => {
  for (const [name, optimizer] of Object.entries(OPTIMIZERS)) {
    it(
      `train as a table whose rows were listed, to the bit: ${name}`,
      leakFree(async () => {
        const all = batches(12);
        const order = [...new Set(all.flatMap(({ keys }) => keys.flat()))];
        const table = open();
        const [ours, theirs] = [optimizer(), optimizer()];
        const model = openModel(table, ours);
        const weights = tf.tensor2d([
          ...order.map((key) => startOf(key)),
          ...new Array<number[]>(CAPACITY - order.length).fill([0, 0, 0]),
        ]);
        const input = tf.input({ shape: [2], dtype: 'int32' });
        const layer = emb.layers.embedding({
          inputDim: CAPACITY,
          outputDim: DIM,
          combiner: 'mean',
          weights: [weights],
        });
        const plain = tf.model({ inputs: input, outputs: head(layer.apply(input)) });
        plain.compile({ optimizer: theirs, loss: 'meanSquaredError' });
        const losses = await train(model, all);
        const expected: number[] = [];
        for (const { keys, y } of all) {
          const x = tf.tensor2d(
            keys.map((row) => row.map((key) => order.indexOf(key))),
            undefined,
            'int32',
          );
          const target = tf.tensor2d(y);
          expected.push((await plain.trainOnBatch(x, target)) as number);
          tf.dispose([x, target]);
        }
        expect(losses).toEqual(expected);
        expect(take(table.lookup(order))).toEqual(take(layer.table.variable!.slice([0, 0], [order.length, DIM])));
        expect(table.size()).toBe(order.length);
        model.dispose();
        plain.dispose();
        tf.dispose([weights]);
        ours.dispose();
        theirs.dispose();
      }),
    );
  }

  it(
    'go on to the bit from what a model saved, keys, counts and slots included, after evictions too',
    leakFree(async () => {
      const all = batches(16);
      const args = { capacity: 12, admit: { after: 2 }, evict: { policy: 'lfu', keep: 0.7 } } as const;
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      const model = openModel(open(args), optimizer);
      await train(model, all.slice(0, 7));
      const saved = await artifactsOf(model, { includeOptimizer: true });
      const again = await reload(saved);
      const table = (again.layers[1] as unknown as { table: emb.OpenTable }).table;
      expect(await train(again, all.slice(7))).toEqual(await train(model, all.slice(7)));
      const known = (model.layers[1] as unknown as { table: emb.OpenTable }).table;
      expect(table.stats()).toEqual(known.stats());
      expect(known.stats().evicted).toBeGreaterThan(0);
      const keys = all.flatMap(({ keys }) => keys);
      expect(predicted(again, keys)).toEqual(predicted(model, keys));
      model.dispose();
      again.optimizer.dispose();
      again.dispose();
      optimizer.dispose();
    }),
  );

  it(
    'only read in predictions and evaluations: what they do not find is unknown',
    leakFree(async () => {
      const table = open();
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      const model = openModel(table, optimizer, { combiner: 'sum' });
      await train(model, batches(2));
      const before = [table.size(), ...Object.values(table.stats())];
      const y = tf.tensor2d([[0], [1]]);
      predicted(model, [
        ['new', 'k1'],
        ['newer', 'k2'],
      ]);
      tf.dispose(
        model.evaluate(
          [
            ['new', 'k1'],
            ['newer', 'k2'],
          ] as never,
          y,
          { verbose: 0 },
        ),
      );
      expect([table.size(), ...Object.values(table.stats())]).toEqual(before);
      expect(table.has(['new', 'k1'])).toEqual([false, true]);
      tf.dispose(y);
      model.dispose();
      optimizer.dispose();
    }),
  );

  it(
    'give zeros that count for unknown keys, nothing, or the sum of rows that they share',
    leakFree(() => {
      const rows = tf.tensor2d([[2, 4, 6]]);
      for (const unknown of ['zero', 'drop', { shared: 8, hashes: 2 }] as const) {
        const table = open({ unknown });
        table.upsert(['a'], rows);
        const layer = emb.layers.embedding({ table, combiner: 'mean' });
        const result = take(layer.apply([['a', 'x']] as never));
        const shared = take(table.lookup(['x']));
        if (unknown === 'zero') expect(result).toEqual([1, 2, 3]);
        else if (unknown === 'drop') expect(result).toEqual([2, 4, 6]);
        else {
          expect(shared.some((value) => value !== 0)).toBe(true);
          expectClose(
            result,
            shared.map((value, i) => (value + 2 * (i + 1)) / 2),
          );
        }
        expectClose(shared, unknown === 'zero' || unknown === 'drop' ? [0, 0, 0] : shared);
        layer.dispose();
        table.dispose();
      }
      rows.dispose();
    }),
  );

  it(
    'begin new rows with the sum of those that they shared',
    leakFree(async () => {
      const table = open({ unknown: { shared: 4, hashes: 2 }, admit: { after: 3 } });
      const optimizer = emb.train.sgd({ learningRate: 0.5 });
      const model = openModel(table, optimizer);
      await train(model, [{ keys: [['p', 'q']], y: [[1]] }]);
      const shared = take(table.lookup(['p']));
      expect(table.size()).toBe(0);
      const frozen = table.trainable;
      expect(frozen).toBe(true);
      await train(model, [{ keys: [['p', 'p']], y: [[1]] }]);
      expect(table.size()).toBe(1);
      // The step moved it from there.
      expect(take(table.lookup(['p']))).not.toEqual(shared);
      model.dispose();
      optimizer.dispose();
    }),
  );

  it(
    'take ragged keys, weights, and padding by a key or by 0',
    leakFree(() => {
      const table = open({ keys: 'int64', paddingKey: -1 });
      const rows = tf.tensor2d([
        [1, 2, 3],
        [10, 20, 30],
        [100, 200, 300],
      ]);
      table.upsert([5n, 0, 2n ** 62n], rows);
      const pooled = emb.layers.raggedEmbedding({ table, combiner: 'sum' });
      const ragged = { values: BigInt64Array.of(5n, 2n ** 62n, -1n, 0n), rowSplits: [0, 2, 2, 4] };
      expect(take(pooled.apply(ragged as never))).toEqual([101, 202, 303, 0, 0, 0, 10, 20, 30]);
      const weighted = emb.layers.embedding({ table, combiner: 'sum' });
      const weights = tf.tensor2d([[2, 3]]);
      expect(take(weighted.apply([[5, 0]] as never, { weights }))).toEqual([32, 64, 96]);
      const masked = emb.layers.embedding({ table, combiner: 'mean', maskZero: true });
      expect(take(masked.apply([[5, 0, -1]] as never))).toEqual([1, 2, 3]);
      const apart = emb.layers.embedding({ table });
      expect(take(apart.apply([[5, -1]] as never))).toEqual([1, 2, 3, 0, 0, 0]);
      tf.dispose([rows, weights]);
      for (const layer of [pooled, weighted, masked, apart]) layer.dispose();
      table.dispose();
    }),
  );

  it(
    'train by ragged keys in fit, and predict them',
    leakFree(async () => {
      const table = open({ keys: 'int64' });
      const input = emb.input({ shape: [null], ragged: true, dtype: 'int64', name: 'seen' });
      const pooled = emb.layers.raggedEmbedding({ table, combiner: 'mean' }).apply(input) as tf.SymbolicTensor;
      const model = tf.model({ inputs: input, outputs: head(pooled) });
      const optimizer = emb.train.adagrad({ learningRate: 0.3 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const x = { values: BigInt64Array.from([1n, 2n, 3n, -4n, 1n << 40n]), rowSplits: [0, 2, 2, 5] };
      const y = tf.tensor2d([[1], [0], [-1]]);
      const { history } = await model.fit(x as never, y, { epochs: 60, batchSize: 2, verbose: 0, shuffle: false });
      expect((history['loss'] as number[]).at(-1)!).toBeLessThan(0.05);
      expect(table.size()).toBe(5);
      expectClose(predicted(model, x), [1, 0, -1], 0.2);
      expect(predicted(model, { seen: x })).toEqual(predicted(model, x));
      model.dispose();
      optimizer.dispose();
      y.dispose();
    }),
  );

  it(
    'take back what a failed step counted',
    leakFree(async () => {
      const table = open({ admit: { after: 3 } });
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      const model = openModel(table, optimizer);
      await train(model, [{ keys: [['a', 'b']], y: [[1]] }]);
      const state = (): unknown => table.stats();
      const before = state();
      const wrong = tf.tensor2d([[1], [2], [3]]);
      await expectAsync(model.trainOnBatch([['a', 'b']] as never, wrong)).toBeRejected();
      expect(state()).toEqual(before);
      await train(model, [{ keys: [['a', 'b']], y: [[1]] }]);
      expect(table.size()).toBe(0);
      await train(model, [{ keys: [['a', 'b']], y: [[1]] }]);
      expect(table.size()).toBe(2);
      wrong.dispose();
      model.dispose();
      optimizer.dispose();
    }),
  );
});
