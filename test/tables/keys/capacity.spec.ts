/** Open tables of another capacity: in place, on loading, and as files of keys and rows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { artifactsOf, expectError, leakFree, reload, take } from '../../layers/setup.js';
import { batches, DIM, open, openModel, predicted, train } from './setup.js';

const asked = Array.from({ length: 24 }, (_, i) => [`k${i}`, `k${(i * 7) % 24}`]);
const tableOf = (model: tf.LayersModel): emb.OpenTable => Object.values(emb.openTables(model))[0]!;

describeForBackends('open tables of another capacity', () => {
  const changes: readonly [string, number, number, Partial<emb.OpenTableArgs>][] = [
    ['that is larger', 30, 50, {}],
    ['with rows that unknown keys share', 30, 50, { unknown: { shared: 6, hashes: 2 }, admit: { after: 2 } }],
    ['that is smaller', 50, 30, { unknown: { shared: 6, hashes: 2 }, admit: { after: 2 } }],
    ['with other shards', 65_000, 66_000, { unknown: { shared: 6 }, admit: { after: 2 } }],
  ];
  for (const [name, from, to, args] of changes) {
    it(
      `train on as tables that had it from the start: ${name}`,
      leakFree(async () => {
        const all = batches(14);
        const [ours, theirs] = [1, 2].map(() => emb.train.adagrad({ learningRate: 0.1 })) as unknown as [
          tf.Optimizer,
          tf.Optimizer,
        ];
        const table = open({ ...args, capacity: from });
        const [model, other] = [openModel(table, ours), openModel(open({ ...args, capacity: to }), theirs)];
        await train(model, all.slice(0, 7));
        await train(other, all.slice(0, 7));
        table.capacity = to;
        expect(table.capacity).toBe(to);
        expect(table.rows).toBe(to + ('unknown' in args ? 6 : 0));
        expect(predicted(model, asked)).toEqual(predicted(other, asked));
        expect(await train(model, all.slice(7))).toEqual(await train(other, all.slice(7)));
        expect(predicted(model, asked)).toEqual(predicted(other, asked));
        expect(table.stats()).toEqual(tableOf(other).stats());
        const again = await reload(await artifactsOf(model));
        expect(predicted(again, asked)).toEqual(predicted(model, asked));
        for (const each of [model, other, again]) each.dispose();
        for (const each of [ours, theirs]) each.dispose();
      }),
    );
  }
});

describe('the capacity of an open table', () => {
  let folder: string;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'capacities '));
    await tf.setBackend('cpu');
  });

  for (const isSavedAgain of [false, true]) {
    it(
      `may change before slots that were loaded are stepped${isSavedAgain ? ', and saved again' : ''}`,
      leakFree(async () => {
        const all = batches(16);
        const args = { capacity: 15, unknown: { shared: 4 }, admit: { after: 2 } } as const;
        const optimizer = emb.train.adagrad({ learningRate: 0.1 });
        const model = openModel(open(args), optimizer);
        await train(model, all.slice(0, 5));
        let loaded = await reload(await artifactsOf(model, { includeOptimizer: true }));
        tableOf(loaded).capacity = 40;
        tableOf(model).capacity = 40;
        if (isSavedAgain) {
          const saved = await artifactsOf(loaded, { includeOptimizer: true });
          loaded.optimizer.dispose();
          loaded.dispose();
          loaded = await reload(saved);
        }
        expect(await train(loaded, all.slice(5))).toEqual(await train(model, all.slice(5)));
        expect(tableOf(loaded).size()).toBeGreaterThan(15);
        expect(predicted(loaded, asked)).toEqual(predicted(model, asked));
        loaded.optimizer.dispose();
        optimizer.dispose();
        for (const each of [model, loaded]) each.dispose();
      }),
    );
  }

  it('may change where the table lies on devices, whose deltas lead on too', async () => {
    const all = batches(12);
    const run = async (isLarge: boolean): Promise<unknown[]> => {
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      const table = open({ name: 'items', capacity: isLarge ? 50 : 30, unknown: { shared: 6 }, admit: { after: 2 } });
      const model = openModel(table, optimizer);
      await train(model, all.slice(0, 6));
      if (!isLarge) table.capacity = 50;
      const follower = open({ name: 'items', capacity: 50, unknown: { shared: 6 }, admit: { after: 2 } });
      const whole = join(folder, 'whole');
      const { mark } = await table.writeDelta(whole, { since: null });
      await follower.applyDelta(whole);
      const losses = await train(model, all.slice(6));
      await table.writeDelta(whole, { since: mark });
      await follower.applyDelta(whole);
      const [rows, copies] = [take(table.lookup(asked)), take(follower.lookup(asked))];
      expect(copies).toEqual(rows);
      model.dispose();
      follower.dispose();
      optimizer.dispose();
      return [losses, rows];
    };
    const here = await run(true);
    for (const chips of [1, 3]) {
      const there = await withTpuEmulator({ chips }, () => run(false));
      expect(there).toEqual(here);
    }
  });

  it('has slots that were loaded begin anew where a row gets another key before they are stepped', async () => {
    const optimizer = emb.train.adagrad({ learningRate: 0.1, initialAccumulatorValue: 0.1 });
    const model = openModel(open(), optimizer);
    const y = tf.tensor2d([[5]]);
    for (let n = 0; n < 3; n++) await model.trainOnBatch([['a', 'b']] as never, y);
    const loaded = await reload(await artifactsOf(model, { includeOptimizer: true }));
    for (const each of [model, loaded]) {
      tableOf(each).remove(['b']);
      await each.trainOnBatch([['a', 'c']] as never, y);
    }
    expect(predicted(loaded, [['a', 'c']])).toEqual(predicted(model, [['a', 'c']]));
    loaded.optimizer.dispose();
    optimizer.dispose();
    y.dispose();
    for (const each of [model, loaded]) each.dispose();
  });

  it('may be given where a model is loaded, and plain tables become open ones and back', async () => {
    const all = batches(8);
    const table = open({ name: 'items', capacity: 30 });
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    const model = openModel(table, optimizer);
    await train(model, all.slice(0, 4));
    const saved = tf.io.fromMemory(await artifactsOf(model, { includeOptimizer: true }));
    const loaded = await emb.loadLayersModel(saved, { capacity: { items: 70_000 } });
    expect(tableOf(loaded).capacity).toBe(70_000);
    expect(await train(loaded, all.slice(4))).toEqual(await train(model, all.slice(4)));
    for (const [capacity, text] of [
      [{ items: 1 }, /`capacity`/],
      [{ users: 50 }, /users/],
      [5, /`capacity`/],
    ] as const) {
      await expectAsync(emb.loadLayersModel(saved, { capacity } as never)).toBeRejectedWithError(text);
    }
    // A plain table with the list of its keys, and back.
    const words = ['tea', 'milk', 'salt'];
    const plain = emb.embeddingTable({
      inputDim: 3,
      outputDim: DIM,
      weights: [tf.range(0, 9).reshape([3, DIM]) as tf.Tensor2D],
    });
    const layer = emb.layers.embedding({ table: plain });
    layer.build([null, 1]);
    const own = open({ keepTexts: true });
    own.upsert(words, layer.getWeights()[0]!);
    const { value: chunk } = await own.export().next();
    expect(chunk!.keys).toEqual(words);
    const again = emb.embeddingTable({ inputDim: 3, outputDim: DIM, weights: [chunk!.rows] });
    const back = emb.layers.embedding({ table: again });
    back.build([null, 1]);
    expect(take(back.getWeights()[0]!.clone())).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    own.dispose();
    for (const each of [optimizer, loaded.optimizer]) each.dispose();
    for (const each of [model, loaded]) each.dispose();
  });

  it('is refused where keys would have no rows, and within a step', async () => {
    const table = open({ keepTexts: true, name: 'words' });
    tf.tidy(() => table.upsert(['a', 'b', 'c', 'd'], tf.range(0, 4 * DIM).reshape([4, DIM])));
    table.remove(['a']);
    expectError(() => (table.capacity = 2), 'ValueError', 'capacity', /2/);
    for (const bad of [0, 1.5, 2 ** 31]) expectError(() => (table.capacity = bad), 'ValueError', 'capacity');
    expectError(() => (table.capacity = '5' as never), 'TypeError', 'capacity');
    expect(table.capacity).toBe(40);
    const mark = table.mark();
    table.capacity = 3;
    expect(table.keysOf([0, 1, 2])).toEqual(['b', 'c', 'd']);
    expect(take(table.lookup(['c', 'd']))).toEqual([6, 7, 8, 9, 10, 11]);
    await expectAsync(table.writeDelta('nowhere', { since: mark })).toBeRejectedWithError(/`since`/);
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    const within = (): void => {
      optimizer.minimize(() => {
        const rows = emb.embeddingLookup(table, [['b']], { combiner: 'sum' }) as tf.Tensor;
        table.capacity = 9;
        return rows.sum();
      });
    };
    expectError(within, 'RuntimeError', 'capacity');
    expect(table.capacity).toBe(3);
    optimizer.dispose();
    table.dispose();
    // One without weights yet.
    const fresh = open({ unknown: { shared: 4 } });
    fresh.capacity = 8;
    expect([fresh.capacity, fresh.rows]).toEqual([8, 12]);
    fresh.dispose();
  });
});
