/** Tables whose rows are found by keys, in models: against plain tables, over backends, files and errors. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { rowFiller } from '../../../src/backends/fill.js';
import { startKey } from '../../../src/tables/keys/key_steps.js';
import { readKeys } from '../../../src/tables/keys/read_keys.js';
import { describeForBackends } from '../../helpers/backends.js';
import { artifactsOf, expectClose, expectError, leakFree, reload, take } from '../../layers/setup.js';

const DIM = 3;
const CAPACITY = 40;
const SEED = 7;

type Keys = string | number | bigint;

/** The row that a key begins with, by the default initializer. */
function startOf(key: Keys, seed = SEED): number[] {
  const { words } = readKeys([key], typeof key === 'string' ? 'string' : 'int64', 'key');
  const values = new Float32Array(DIM);
  const fill = { kind: 'uniform', min: -0.05, max: 0.05, seed } as const;
  rowFiller(fill, DIM)(startKey(seed, words[0]!, words[1]!), values);
  return Array.from(values);
}

type LayerArgs = Partial<emb.EmbeddingArgs>;

function head(rows: tf.SymbolicTensor): tf.SymbolicTensor {
  const kernelInitializer = tf.initializers.glorotUniform({ seed: 5 });
  return tf.layers.dense({ units: 1, kernelInitializer, name: 'head' }).apply(rows) as tf.SymbolicTensor;
}

function openModel(table: emb.OpenTable, optimizer: tf.Optimizer, args: LayerArgs = {}): tf.LayersModel {
  const input = emb.input({ shape: [2], dtype: table.keyKind, name: 'keys' });
  const layer = emb.layers.embedding({ table, combiner: 'mean', ...args } as emb.EmbeddingArgs);
  const model = tf.model({ inputs: input, outputs: head(layer.apply(input)) });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

function open(args: Partial<emb.OpenTableArgs> = {}): emb.OpenTable {
  return emb.openTable({ outputDim: DIM, capacity: CAPACITY, keys: 'string', seed: SEED, ...args });
}

/** Batches of texts: some of them in each, new ones as it goes on. */
function batches(count: number): { keys: string[][]; y: number[][] }[] {
  return Array.from({ length: count }, (_, step) => {
    const keys = Array.from({ length: 4 }, (__, row) => [`k${(step * 3 + row) % 11}`, `k${(step + 2 * row) % 20}`]);
    return { keys, y: keys.map(([a]) => [a!.length - 1 + (step % 3) / 4]) };
  });
}

async function train(model: tf.LayersModel, all: ReturnType<typeof batches>): Promise<number[]> {
  const losses: number[] = [];
  for (const { keys, y } of all) {
    const target = tf.tensor2d(y);
    losses.push((await model.trainOnBatch(keys as never, target)) as number);
    target.dispose();
  }
  return losses;
}

function predicted(model: tf.LayersModel, keys: unknown): number[] {
  return take(model.predict(keys as never));
}

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

describe('openTable', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it('gives keys the same first row whatever their order, and another by another seed', () => {
    const starts = [
      ['a', 'b', 'c'],
      ['c', 'a', 'b'],
    ].map((order) => {
      const table = open();
      const optimizer = emb.train.sgd({ learningRate: 0 });
      const model = openModel(table, optimizer);
      const y = tf.tensor2d([[0]]);
      return order
        .reduce(async (done, key) => {
          await done;
          await model.trainOnBatch([[key, key]] as never, y);
        }, Promise.resolve())
        .then(() => {
          const rows = take(table.lookup(['a', 'b', 'c']));
          y.dispose();
          model.dispose();
          optimizer.dispose();
          return rows;
        });
    });
    return Promise.all(starts).then(([first, second]) => {
      expect(first).toEqual(second!);
      expectClose(
        first!,
        ['a', 'b', 'c'].flatMap((key) => startOf(key)),
        0,
      );
      expect(startOf('a', 8)).not.toEqual(startOf('a'));
    });
  });

  it(
    'has rows set, removed, exported and named',
    leakFree(async () => {
      const table = open({ keepTexts: true });
      const rows = tf.tensor2d([
        [1, 1, 1],
        [2, 2, 2],
        [3, 3, 3],
      ]);
      table.upsert(['x', 'y', 'x'], rows);
      expect(take(table.lookup(['x', 'y', 'z']))).toEqual([3, 3, 3, 2, 2, 2, 0, 0, 0]);
      const { values, exists } = table.lookup(['z', 'x'], { returnExists: true });
      expect(exists).toEqual([false, true]);
      values.dispose();
      expect(table.size()).toBe(2);
      expect(table.keysOf([1, 0])).toEqual(['y', 'x']);
      const told: string[] = [];
      for await (const { keys, rows: of } of table.export({ chunkRows: 1 })) {
        told.push(...(keys as string[]));
        expect(of.shape).toEqual([1, DIM]);
        of.dispose();
      }
      expect(told).toEqual(['x', 'y']);
      expect(table.remove(['x', 'nothing', 'x'])).toBe(1);
      expect(table.has(['x', 'y'])).toEqual([false, true]);
      expectError(() => table.keysOf([0]), 'ValueError', 'rows');
      expect(take(table.lookup(['x']))).toEqual([0, 0, 0]);
      rows.dispose();
      table.dispose();
    }),
  );

  it(
    'is searched for the best keys, without rows that are free',
    leakFree(() => {
      const table = open({ keepTexts: true });
      const rows = tf.tensor2d(Array.from({ length: 10 }, (_, i) => [i, 1, 0]));
      const names = Array.from({ length: 10 }, (_, i) => `item ${i}`);
      table.upsert(names, rows);
      table.remove(['item 9', 'item 4']);
      const queries = tf.tensor2d([
        [1, 0, 0],
        [-1, 0, 0],
      ]);
      const found = emb.topK(queries, table, 3, { exclude: [['item 8', 'item 9', 'unknown'], []] });
      expect(found.keys).toEqual([
        ['item 7', 'item 6', 'item 5'],
        ['item 0', 'item 1', 'item 2'],
      ]);
      expect(take(found.values)).toEqual([7, 6, 5, 0, -1, -2]);
      const only = emb.topK(queries, table, 3, { only: [['item 1', 'item 3'], ['item 9']] });
      expect(only.keys).toEqual([['item 3', 'item 1'], []]);
      expect(take(only.values)).toEqual([3, 1, -Infinity, -Infinity, -Infinity, -Infinity]);
      expectError(() => emb.topK(queries, table, 3, { only: [['a']] }), 'ValueError', 'only');
      tf.dispose([rows, queries]);
      table.dispose();
    }),
  );

  it(
    'is looked up by emb.embeddingLookup, and trained in a loop of the user',
    leakFree(() => {
      const table = open({ unknown: 'drop', paddingKey: '' });
      const optimizer = emb.train.sgd({ learningRate: 1 });
      const step = (): tf.Scalar => {
        const rows = emb.embeddingLookup(
          table,
          [
            ['a', 'b', ''],
            ['a', '', ''],
          ],
          { combiner: 'mean' },
        ) as tf.Tensor;
        return rows.sum();
      };
      tf.dispose(optimizer.minimize(step, true)!);
      expect(table.size()).toBe(2);
      // The gradient of a is 1/2 + 1, of b 1/2.
      const expected = [...startOf('a').map((value) => value - 1.5), ...startOf('b').map((value) => value - 0.5)];
      expectClose(take(table.lookup(['a', 'b'])), expected);
      const ragged = { values: ['a', 'b', 'new'], rowSplits: [0, 1, 3, 3] };
      const pooled = take(emb.embeddingLookup(table, ragged, { combiner: 'sum' }));
      expectClose(pooled, [...expected, 0, 0, 0]);
      expect(table.size()).toBe(2);
      expectError(() => emb.embeddingLookup(table, [['']], { combiner: 'max' }), 'ValueError', 'ids');
      table.dispose();
      optimizer.dispose();
    }),
  );

  it(
    'restricts itself to the best keys, and tells which went',
    leakFree(async () => {
      const table = open({ keys: 'int64', evict: { policy: 'l2' } });
      const rows = tf.tensor2d([1, 5, 3, 4].map((value) => [value, 0, 0]));
      table.upsert([10, 20, 30, 40], rows);
      const gone: bigint[] = [];
      table.onEvict = (keys) => gone.push(...keys);
      expect(table.restrict(2, { trigger: 5 })).toBe(0);
      expect(table.restrict(2)).toBe(2);
      expect(gone).toEqual([10n, 30n]);
      expect(table.has([10, 20, 30, 40])).toEqual([false, true, false, true]);
      expect(table.stats().evicted).toBe(2);
      rows.dispose();
      table.dispose();
    }),
  );

  it('evicts the shortest rows by l2 while it trains', async () => {
    const table = open({ keys: 'int64', capacity: 4, evict: { policy: 'l2', keep: 0.5 } });
    const rows = tf.tensor2d([4, 1, 3, 2].map((value) => [value, 0, 0]));
    table.upsert([1, 2, 3, 4], rows);
    const optimizer = emb.train.sgd({ learningRate: 0.001 });
    const model = openModel(table, optimizer);
    const y = tf.tensor2d([[0]]);
    await model.trainOnBatch([[2, 9]] as never, y);
    // 2 is of this step; of the others 4 is the shortest, then 3.
    expect(table.has([1, 2, 3, 4, 9])).toEqual([true, true, false, false, true]);
    tf.dispose([rows, y]);
    model.dispose();
    optimizer.dispose();
  });

  it('has slots begin anew where a row gets another key', async () => {
    const table = open({ keys: 'int64', capacity: 2, evict: { policy: 'lru', keep: 0.5 } });
    const optimizer = emb.train.adagrad({ learningRate: 0.1, initialAccumulatorValue: 0.1 });
    const model = openModel(table, optimizer);
    const y = tf.tensor2d([[5]]);
    for (const keys of [
      [1, 2],
      [1, 2],
      [1, 2],
    ])
      await model.trainOnBatch([keys] as never, y);
    await model.trainOnBatch([[1, 3]] as never, y);
    const slots = (await optimizer.getWeights()).find(({ name }) => name.endsWith('accumulators'))!;
    const accumulators = Array.from(slots.tensor.dataSync());
    const [first, second] = [accumulators.slice(0, DIM), accumulators.slice(DIM)];
    expect(Math.min(...first)).toBeGreaterThan(Math.max(...second));
    y.dispose();
    model.dispose();
    optimizer.dispose();
  });

  it('needs an emb.train optimizer', async () => {
    const table = open();
    const optimizer = tf.train.sgd(0.1);
    const model = openModel(table, optimizer);
    const y = tf.tensor2d([[0]]);
    await expectAsync(model.trainOnBatch([['a', 'b']] as never, y)).toBeRejectedWithError(/emb\.train optimizer/);
    expect(table.size()).toBe(0);
    y.dispose();
    model.dispose();
  });

  it('is not trained while it is frozen', async () => {
    const table = open({ trainable: false });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    const model = openModel(table, optimizer);
    await train(model, batches(2));
    expect(table.size()).toBe(0);
    model.dispose();
    optimizer.dispose();
  });

  it('comes short as arguments of a layer, and is found again in what is saved', async () => {
    const layer = emb.layers.embedding({
      keys: 'string',
      capacity: 50,
      outputDim: DIM,
      combiner: 'sum',
      inputShape: [2],
      name: 'tags',
    });
    const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    await train(model, batches(3));
    const again = await reload(await artifactsOf(model));
    expect(predicted(again, [['k1', 'k9']])).toEqual(predicted(model, [['k1', 'k9']]));
    const table = (again.layers[0] as unknown as { table: emb.OpenTable }).table;
    expect(table.size()).toBe((layer.table as emb.OpenTable).size());
    expectError(() => layer.getWeights(), 'RuntimeError', 'getWeights', /open table tags/);
    for (const each of [model, again]) each.dispose();
    optimizer.dispose();
  });

  it('refuses what it cannot be', () => {
    const bad: readonly [Record<string, unknown>, 'ValueError' | 'TypeError', string][] = [
      [{ capacity: 0 }, 'ValueError', 'capacity'],
      [{ capacity: undefined }, 'TypeError', 'capacity'],
      [{ capacity: 2 ** 31 }, 'ValueError', 'capacity'],
      [{ outputDim: 1.5 }, 'ValueError', 'outputDim'],
      [{ keys: 'int32' }, 'ValueError', 'keys'],
      [{ keys: 3 }, 'TypeError', 'keys'],
      [{ admit: { after: 0 } }, 'ValueError', 'admit.after'],
      [{ admit: { after: 256 } }, 'ValueError', 'admit.after'],
      [{ admit: { after: 2, probability: 0.5 } }, 'TypeError', 'admit'],
      [{ admit: {} }, 'TypeError', 'admit'],
      [{ admit: { probability: 0 } }, 'ValueError', 'admit.probability'],
      [{ admit: { probability: NaN } }, 'ValueError', 'admit.probability'],
      [{ admit: { probability: 0.5, tracked: 5 } }, 'TypeError', 'admit.tracked'],
      [{ evict: { policy: 'fifo' } }, 'ValueError', 'evict.policy'],
      [{ evict: { keep: 1.1 } }, 'ValueError', 'evict.keep'],
      [{ evict: { after: 0 } }, 'ValueError', 'evict.after'],
      [{ evict: { policy: 'lru', exponent: 2 } }, 'ValueError', 'evict.exponent'],
      [{ unknown: 'error' }, 'ValueError', 'unknown'],
      [{ unknown: 4 }, 'TypeError', 'unknown'],
      [{ unknown: { hashes: 2 } }, 'TypeError', 'unknown.shared'],
      [{ unknown: { shared: 4, hashes: 0 } }, 'ValueError', 'unknown.hashes'],
      [{ keepTexts: true, keys: 'int64' }, 'ValueError', 'keepTexts'],
      [{ paddingKey: 1.5, keys: 'int64' }, 'ValueError', 'paddingKey'],
      [{ storage: 'float16' }, 'ValueError', 'storage'],
      [{ embeddingsInitializer: 'orthogonal' }, 'ValueError', 'embeddingsInitializer'],
      [{ embeddingsInitialiser: 'zeros' }, 'ValueError', 'embeddingsInitialiser'],
    ];
    for (const [args, type, argument] of bad) expectError(() => open(args as never), type, argument);
  });

  it('refuses keys that are none, and layers that cannot look them up', () => {
    const table = open({ keys: 'int64', unknown: { shared: 4, hashes: 2 } });
    const texts = open();
    for (const [keys, of] of [
      [[1.5], table],
      [[NaN], table],
      [[2 ** 53], table],
      [[2n ** 64n], table],
      [['\ud800'], texts],
    ] as const) {
      expectError(() => of.lookup(keys as never), 'ValueError', 'keys');
    }
    for (const [keys, of] of [
      [['a'], table],
      [[1], texts],
      [[null], texts],
      [{}, table],
    ] as const) {
      expectError(() => of.lookup(keys as never), 'TypeError', 'keys');
    }
    expect(take(texts.lookup(['\u00e9', 'e\u0301'])).length).toBe(2 * DIM);
    expectError(() => emb.layers.embedding({ table, combiner: 'max' }), 'ValueError', 'combiner');
    expectError(() => emb.layers.embedding({ table, combiner: 'sum', maxNorm: 1 }), 'ValueError', 'maxNorm');
    expectError(() => emb.layers.embedding({ table, outOfRange: 'zero' }), 'ValueError', 'outOfRange');
    expectError(() => emb.layers.embedding({ table, capacity: 4 } as never), 'ValueError', 'capacity');
    expectError(() => emb.layers.embedding({ keys: 'string', outputDim: 3 } as never), 'TypeError', 'capacity');
    const int64 = emb.input({ shape: [2], dtype: 'int64' });
    expectError(() => emb.layers.embedding({ table: texts }).apply(int64), 'ValueError', 'inputs');
    expectError(() => texts.keysOf([0]), 'RuntimeError', 'keysOf');
    for (const each of [table, texts]) each.dispose();
  });

  it('is refused by name where ids would be taken for row numbers', async () => {
    const table = open();
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    const model = openModel(table, optimizer);
    await expectAsync(emb.savedModel.export(model, '/nowhere')).toBeRejectedWithError(/open table/);
    await expectAsync(emb.exportKeras(model, '/nowhere/model.keras')).toBeRejectedWithError(/table/);
    const wide = (): unknown => emb.layers.distributedEmbedding({ embeddings: [{ table }] } as never);
    expectError(wide, 'ValueError', 'embeddings[0].table', /open table/);
    const layer = model.layers[1] as unknown as emb.Embedding;
    expectError(() => layer.extend({ rows: 1 }), 'RuntimeError', 'extend', /open table/);
    await expectAsync((async () => emb.quantize(model, { dtype: 'int8' }))()).toBeRejectedWithError(/float32/);
    model.dispose();
    optimizer.dispose();
  });

  it('takes both ends of 64 bits, of either sign, and a table of one row', () => {
    const table = open({ keys: 'int64', capacity: 1 });
    const rows = tf.tensor2d([[1, 2, 3]]);
    for (const keys of [BigInt64Array.of(-1n), BigUint64Array.of(2n ** 64n - 1n), [-1], [-1n], Int32Array.of(-1)]) {
      table.upsert(keys, rows);
      expect(take(table.lookup([-1n]))).toEqual([1, 2, 3]);
      expect(table.size()).toBe(1);
    }
    expect(table.keysOf([0])).toEqual(BigInt64Array.of(-1n));
    table.upsert([2n ** 63n], rows);
    expect(table.keysOf([0])).toEqual(BigInt64Array.of(-(2n ** 63n)));
    table.dispose();
    rows.dispose();
  });
});
