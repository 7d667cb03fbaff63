/** Open tables by themselves: rows by hand, eviction, refusals. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { artifactsOf, expectClose, expectError, leakFree, reload, take } from '../../layers/setup.js';
import { DIM, startOf, openModel, open, batches, train, predicted } from './setup.js';

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
    'of 256 shards is searched as a plain list of its keys',
    leakFree(() => {
      const random = new Random(5);
      const table = emb.openTable({ outputDim: 2, capacity: 66_000 });
      const keys = Array.from({ length: 900 }, (_, i) => 7 * i);
      const start = tf.tensor2d(
        Array.from({ length: 1800 }, () => random.next()),
        [900, 2],
      );
      table.upsert(keys, start);
      table.remove(keys.filter(() => random.chance(0.3)));
      const kept = keys.filter((key) => table.has([key])[0]);
      const rows = take(table.lookup(kept));
      const queries = [
        [1, 0.5],
        [-1, 2],
      ];
      const exclude = [kept.slice(0, 5), [7 * 10_000]];
      const asked = tf.tensor2d(queries);
      const found = emb.topK(asked, table, 20, { exclude });
      tf.dispose([start, asked, found.values]);
      queries.forEach(([x, y], q) => {
        const scored = kept.map((key, i) => ({ key, score: rows[2 * i]! * x! + rows[2 * i + 1]! * y! }));
        const best = scored.filter(({ key }) => !exclude[q]!.includes(key)).sort((a, b) => b.score - a.score);
        expect([...(found.keys[q] as BigInt64Array)].map(Number)).toEqual(best.slice(0, 20).map(({ key }) => key));
      });
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
      [{ storage: 'int8' }, 'ValueError', 'storage'],
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
    await expectAsync(emb.exportKeras(model, '/nowhere/model.keras')).toBeRejectedWithError(/table/);
    const wide = (): unknown => emb.layers.distributedEmbedding({ embeddings: [{ table }] } as never);
    expectError(wide, 'ValueError', 'embeddings[0].table', /open table/);
    const layer = model.layers[1] as unknown as emb.Embedding;
    expectError(() => layer.extend({ rows: 1 }), 'RuntimeError', 'extend', /open table/);
    await expectAsync((async () => emb.quantize(model, { dtype: 'int8' }))()).toBeRejectedWithError(/float32/);
    model.dispose();
    optimizer.dispose();
  });

  it('is found in a model, within models in it too', () => {
    const [inner, outer] = [open({ name: 'inner' }), open({ name: 'outer' })];
    const input = emb.input({ shape: [2], dtype: 'string' });
    const pooled = emb.layers.embedding({ table: inner, combiner: 'sum' }).apply(input) as tf.SymbolicTensor;
    const nested = tf.model({ inputs: input, outputs: pooled });
    const keys = emb.input({ shape: [2], dtype: 'string' });
    const own = emb.layers.embedding({ table: outer, combiner: 'sum' }).apply(keys) as tf.SymbolicTensor;
    const sum = tf.layers.add().apply([nested.apply(keys) as tf.SymbolicTensor, own]) as tf.SymbolicTensor;
    const model = tf.model({ inputs: keys, outputs: sum });
    expect(emb.openTables(model)).toEqual({ inner, outer });
    expect(emb.openTables(model, ['outer']).outer).toBe(outer);
    expectError(() => emb.openTables(model, ['other']), 'ValueError', 'names');
    expect(take(model.predict([['a', 'b']] as never))).toEqual([0, 0, 0]);
    expectError(() => emb.openTables(null as never), 'TypeError', 'model');
    model.dispose();
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
