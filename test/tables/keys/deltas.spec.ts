/** Deltas of open tables: a table that follows another by them is that table, to the bit. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { readDeltaFile, writeDeltaFile, type OpenDelta } from '../../../src/tables/keys/delta_file.js';
import { describeForBackends } from '../../helpers/backends.js';
import { artifactsOf, expectError, leakFree, reload, take } from '../../layers/setup.js';
import { batches, DIM, open, openModel, predicted, train } from './setup.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deltas '));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string | number): string => join(folder, `${name}.safetensors`);

/** Rows by key. */
async function contents(table: emb.OpenTable): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  for await (const { keys, rows } of table.export()) {
    const values = take(rows);
    Array.from(keys as Iterable<string | bigint>).forEach((key, i) => {
      found.set(String(key), values.slice(i * DIM, (i + 1) * DIM));
    });
  }
  return found;
}

async function expectSame(a: emb.OpenTable, b: emb.OpenTable): Promise<void> {
  const [one, other] = [await contents(a), await contents(b)];
  expect(new Map([...other].sort())).toEqual(new Map([...one].sort()));
}

/** The counts that a follower has too: probes depend on where keys lie. */
function counts(table: emb.OpenTable): unknown {
  const { size, admitted, evicted } = table.stats();
  return { size, admitted, evicted };
}

const asked = Array.from({ length: 24 }, (_, i) => [`k${i}`, `k${(i * 7) % 24}`]);

describeForBackends('deltas of open tables', () => {
  const rules: Readonly<Record<string, Partial<emb.OpenTableArgs>>> = {
    'with evictions': { capacity: 12, admit: { after: 2 }, evict: { policy: 'lfu', keep: 0.7 } },
    'with rows that unknown keys share, and texts': {
      capacity: 12,
      unknown: { shared: 8, hashes: 2 },
      keepTexts: true,
      admit: { after: 3 },
    },
    'with keys that go by age': { capacity: 30, evict: { policy: 'lru', after: 3 } },
  };
  for (const [name, args] of Object.entries(rules)) {
    it(
      `lead from a base to the live table: ${name}`,
      leakFree(async () => {
        const all = batches(46);
        const [optimizer, table] = [emb.train.adagrad({ learningRate: 0.1 }), open({ name: 'items', ...args })];
        const model = openModel(table, optimizer);
        await train(model, all.slice(0, 6));
        let since = table.mark();
        const replica = await reload(await artifactsOf(model));
        const { items } = emb.openTables(replica, ['items']);
        const head = (): tf.Tensor[] => model.layers.at(-1)!.getWeights();
        let removed = 0;
        for (let n = 0; n < 20; n++) {
          await train(model, all.slice(6 + 2 * n, 8 + 2 * n));
          const written = await table.writeDelta(file(n), { since });
          expect(written.rows).toBeLessThan(20);
          since = written.mark;
          expect(await items.applyDelta(file(n))).toEqual({ rows: written.rows, removed: written.removed });
          removed += written.removed;
          replica.layers.at(-1)!.setWeights(head());
          expect(predicted(replica, asked)).toEqual(predicted(model, asked));
          expect(counts(items)).toEqual(counts(table));
        }
        if (name !== 'with rows that unknown keys share, and texts') expect(removed).toBeGreaterThan(0);
        await expectSame(table, items);
        for (const each of [model, replica]) each.dispose();
        optimizer.dispose();
      }),
    );
  }
});

describe('deltas', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  /** A table, and one that follows it from its first mark on. */
  async function pair(args: Partial<emb.OpenTableArgs> = {}): Promise<{
    source: emb.OpenTable;
    follower: emb.OpenTable;
    mark: emb.OpenTableMark;
    set(keys: readonly string[], value: number): void;
  }> {
    const source = open({ name: 'items', ...args });
    const follower = open({ name: 'items', ...args, capacity: args.capacity ?? 100 });
    const set = (keys: readonly string[], value: number): void => {
      tf.tidy(() => source.upsert([...keys], tf.fill([keys.length, DIM], value)));
    };
    return { source, follower, mark: source.mark(), set };
  }

  it('tell what steps, upserts, removals and writes of weights changed, and no more', async () => {
    const { source, mark, set, follower } = await pair();
    const names = Array.from({ length: 30 }, (_, i) => `n${i}`);
    set(names, 1);
    const first = await source.writeDelta(file('a'), { since: mark });
    expect(first).toEqual({ rows: 30, removed: 0, mark: { table: 'items', number: 2 } });
    set(['n3', 'n4'], 2);
    source.remove(['n5']);
    const second = await source.writeDelta(file('b'), { since: first.mark });
    expect([second.rows, second.removed]).toEqual([2, 1]);
    const none = await source.writeDelta(file('c'), { since: second.mark });
    expect(none).toEqual({ rows: 0, removed: 0, mark: second.mark });
    for (const name of ['a', 'b', 'c']) await follower.applyDelta(file(name));
    await expectSame(source, follower);
    // From an older mark on they are those of both; a key that came back is a row again.
    set(['n5', 'n6'], 7);
    const all = await source.writeDelta(file('d'), { since: first.mark });
    expect([all.rows, all.removed]).toEqual([4, 0]);
    source.dispose();
    follower.dispose();
  });

  it('tell all rows that changed where keys do not tell which', async () => {
    const table = open({ name: 'items' });
    const optimizer = emb.train.adam({ learningRate: 0.1, lazy: false });
    const model = openModel(table, optimizer);
    await train(model, batches(4));
    const size = table.size();
    const mark = table.mark();
    await train(model, batches(1));
    const moved = await table.writeDelta(file('lazy'), { since: mark });
    expect(moved.rows).toBe(size);
    // Weights that are written whole.
    const [weight] = model.layers[1]!.weights;
    tf.tidy(() => void weight!.write(weight!.read().add(1)));
    const written = await table.writeDelta(file('weights'), { since: moved.mark });
    expect(written.rows).toBe(size);
    expect((await table.writeDelta(file('none'), { since: written.mark })).rows).toBe(0);
    model.dispose();
    optimizer.dispose();
  });

  it('tell rows that were stepped by gradients which were asked for before', async () => {
    const { source, mark, set, follower } = await pair();
    set(['a', 'b', 'c'], 1);
    const optimizer = emb.train.sgd({ learningRate: 1 });
    const { value, grads } = optimizer.computeGradients(() => {
      return (emb.embeddingLookup(source, [['a', 'b']], { combiner: 'sum' }) as tf.Tensor).sum();
    });
    const before = await source.writeDelta(file('before'), { since: mark });
    optimizer.applyGradients(grads);
    const after = await source.writeDelta(file('after'), { since: before.mark });
    expect(after.rows).toBe(2);
    await follower.applyDelta(file('before'));
    await follower.applyDelta(file('after'));
    await expectSame(source, follower);
    tf.dispose([value, grads]);
    optimizer.dispose();
    source.dispose();
    follower.dispose();
  });

  it('are refused dropped, doubled and swapped, and change nothing then', async () => {
    const { source, mark, set, follower } = await pair();
    let since = mark;
    for (const n of [1, 2, 3]) {
      set([`x${n}`, 'y'], n);
      ({ mark: since } = await source.writeDelta(file(n), { since }));
    }
    const refused = async (name: number, text: RegExp): Promise<void> => {
      const before = await contents(follower);
      await expectAsync(follower.applyDelta(file(name))).toBeRejectedWithError(text);
      expect(await contents(follower)).toEqual(before);
    };
    // One that knows no mark yet goes by checksums.
    await refused(2, /from mark 2 to mark 3.*in their order/);
    await follower.applyDelta(file(1));
    await refused(3, /from mark 2 on.*What leads from mark 2 to mark 3 is missing/);
    await refused(1, /It was applied before/);
    await follower.applyDelta(file(2));
    await refused(1, /It was applied before/);
    // One that was changed otherwise is none that it was made from.
    follower.remove(['x1']);
    await refused(3, /with checksum/);
    source.dispose();
    follower.dispose();
  });

  it('are refused damaged, wherever that is', async () => {
    const { source, mark, set, follower } = await pair();
    set(['a', 'b'], 1);
    await source.writeDelta(file('whole'), { since: mark });
    const bytes = readFileSync(file('whole'));
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at]! ^= 1;
      let error: unknown = null;
      await follower.applyDelta(damaged).catch((thrown: unknown) => (error = thrown));
      const isSame = error === null && follower.size() === 2;
      if (error instanceof emb.ValueError || error instanceof TypeError) continue;
      // A space of the header may be another one.
      if (!isSame || bytes[at] !== 0x20) fail(`byte ${at}: ${String(error)}`);
      follower.remove(['a', 'b']);
    }
    expect(follower.size()).toBe(0);
    await expectAsync(follower.applyDelta(bytes.subarray(0, bytes.length - 1))).toBeRejectedWithError(/bytes/);
    await follower.applyDelta(new Uint8Array(bytes));
    await expectSame(source, follower);
    source.dispose();
    follower.dispose();
  });

  it('are refused whole where their rows do not lead to what they say', async () => {
    const { source, mark, set, follower } = await pair({ unknown: { shared: 2 } });
    await source.writeDelta(file('base'), { since: null });
    await follower.applyDelta(file('base'));
    set(['a', 'b'], 1);
    const first = await source.writeDelta(file('first'), { since: mark });
    await follower.applyDelta(file('first'));
    set(['b', 'c'], 2);
    source.remove(['a']);
    await source.writeDelta(file('second'), { since: first.mark });
    const delta = await readDeltaFile(file('second'));
    const other = Float32Array.from(delta.rows, (value, i) => (i === 2 ? value + 1 : value));
    const wrong: readonly (readonly [Partial<OpenDelta>, RegExp])[] = [
      [{ rows: other }, /which leads to/],
      [{ removed: new Int32Array(0) }, /which leads to/],
      [{ removed: Int32Array.of(1, 2) }, /not there/],
      [{ places: Int32Array.of(5), sharedRows: new Float32Array(DIM) }, /shared row 5/],
      [{ entries: delta.entries.map((word, i) => (i === 0 ? word + 1 : word)) }, /which leads to/],
    ];
    const before = await contents(follower);
    for (const [part, text] of wrong) {
      await writeDeltaFile(file('wrong'), { ...delta, ...part });
      await expectAsync(follower.applyDelta(file('wrong'))).toBeRejectedWithError(text);
      expect(await contents(follower)).toEqual(before);
    }
    await follower.applyDelta(file('second'));
    await expectSame(source, follower);
    source.dispose();
    follower.dispose();
  });

  it('are refused where they belong to another table, or have no room', async () => {
    const { source, mark, set } = await pair();
    set(['a', 'b', 'c'], 1);
    await source.writeDelta(file('abc'), { since: mark });
    const others: readonly [Partial<emb.OpenTableArgs>, RegExp][] = [
      [{ name: 'users' }, /table "users"/],
      [{ keys: 'int64' }, /keys "int64"/],
      [{ outputDim: 4 }, /outputDim 4/],
      [{ unknown: { shared: 4 } }, /shared 4/],
      [{ keepTexts: true }, /texts/],
      [{ capacity: 2 }, /room for 3 keys/],
    ];
    for (const [args, text] of others) {
      const other = open({ name: 'items', ...args });
      await expectAsync(other.applyDelta(file('abc'))).toBeRejectedWithError(text);
      expect(other.size()).toBe(0);
      other.dispose();
    }
    writeFileSync(file('text'), 'no delta, but some text that is long enough');
    await expectAsync(source.applyDelta(file('text'))).toBeRejectedWithError(/safetensors/);
    await emb.weights.writeSafetensors(file('plain'), { a: tf.ones([2]) });
    await expectAsync(source.applyDelta(file('plain'))).toBeRejectedWithError(/writeDelta/);
    await expectAsync(source.applyDelta(file('nowhere'))).toBeRejected();
    source.dispose();
  });

  it('of a whole table take the place of what is there, in a table of any capacity', async () => {
    const { source, mark, set } = await pair({ unknown: { shared: 3 }, keepTexts: true });
    set(['a', 'b', 'c'], 1);
    set(['b'], 2);
    const whole = await source.writeDelta(file('all'), { since: null });
    expect([whole.rows, whole.removed]).toEqual([3, 0]);
    const other = open({ name: 'items', capacity: 3, unknown: { shared: 3 }, keepTexts: true, seed: 99 });
    tf.tidy(() => other.upsert(['x', 'c', 'y'], tf.zeros([3, DIM])));
    expect(await other.applyDelta(file('all'))).toEqual({ rows: 3, removed: 2 });
    await expectSame(source, other);
    expect(take(other.lookup(['z']))).toEqual(take(source.lookup(['z'])));
    source.remove(['b']);
    set(['d'], 4);
    await source.writeDelta(file('next'), { since: whole.mark });
    await other.applyDelta(file('next'));
    await expectSame(source, other);
    await source.writeDelta(file('older'), { since: mark });
    await expectAsync(other.applyDelta(file('older'))).toBeRejectedWithError(/from mark 3 on/);
    const small = open({ name: 'items', capacity: 2, unknown: { shared: 3 }, keepTexts: true });
    await expectAsync(small.applyDelta(file('all'))).toBeRejectedWithError(/room for 3 keys/);
    for (const each of [source, other, small]) each.dispose();
  });

  it('begin at a mark of the table that it still keeps', async () => {
    const { source, mark, set, follower } = await pair();
    const refused = async (since: unknown, text: RegExp): Promise<void> => {
      await expectAsync(source.writeDelta(file('never'), { since } as never)).toBeRejectedWithError(text);
    };
    await refused(undefined, /`since`/);
    await refused(follower.mark(), /mark 1 of table items/);
    await refused({ table: 'items', number: 1 }, /`since`/);
    expect(source.mark()).toBe(mark);
    // As many rows as the table has may change before the oldest are forgotten, but no fewer than 65,536.
    const [a, b] = [Array.from({ length: 40 }, (_, i) => `a${i}`), Array.from({ length: 40 }, (_, i) => `b${i}`)];
    for (let n = 0; n < 1000; n++) {
      set(n % 2 === 0 ? a : b, n);
      source.mark();
    }
    await refused(mark, /Those from \d+ to 1001 are/);
    source.dispose();
    expectError(() => (source.mark(), source.dispose(), open().restrict(-1)), 'ValueError', 'count');
  });

  it('tell numbers of 64 bits, in shards, to a table of another capacity', async () => {
    const source = open({ name: 'items', keys: 'int64', capacity: 70_000, evict: { policy: 'lru', keep: 0.5 } });
    const follower = open({ name: 'items', keys: 'int64', capacity: 500 });
    let since = source.mark();
    for (let n = 0; n < 6; n++) {
      const keys = BigInt64Array.from({ length: 60 }, (_, i) => BigInt(i + 20 * n) * 0x9e3779b97f4a7c15n);
      tf.tidy(() => source.upsert(keys, tf.fill([60, DIM], n)));
      source.remove(keys.slice(0, 10));
      ({ mark: since } = await source.writeDelta(file('shards'), { since }));
      await follower.applyDelta(file('shards'));
      await expectSame(source, follower);
    }
    expect(follower.has([0n, BigInt.asIntN(64, 0x9e3779b97f4a7c15n * 150n)])).toEqual([false, true]);
    source.dispose();
    follower.dispose();
  });

  it('follow a random stream of all that changes a table', async () => {
    const { source, mark, follower } = await pair({
      capacity: 30,
      unknown: { shared: 5, hashes: 2 },
      evict: { policy: 'lru', keep: 0.5 },
    });
    const optimizer = emb.train.sgd({ learningRate: 0.3 });
    const model = openModel(source, optimizer);
    let [since, seed] = [mark, 12345];
    const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
    const some = (): string[] => Array.from({ length: 1 + random(5) }, () => `k${random(60)}`);
    for (let n = 0; n < 120; n++) {
      const kind = random(5);
      const keys = some();
      if (kind === 0) tf.tidy(() => source.upsert(keys, tf.fill([keys.length, DIM], random(9))));
      else if (kind === 1) source.remove(keys);
      else if (kind === 2 && source.size() > 3) source.restrict(source.size() - 2);
      else await train(model, [{ keys: [[keys[0]!, keys.at(-1)!]], y: [[random(3)]] }]);
      if (random(3) > 0) continue;
      ({ mark: since } = await source.writeDelta(file('stream'), { since }));
      await follower.applyDelta(readFileSync(file('stream')));
      await expectSame(source, follower);
      const unknown = ['never', 'seen'];
      expect(take(follower.lookup(unknown))).toEqual(take(source.lookup(unknown)));
    }
    model.dispose();
    follower.dispose();
    optimizer.dispose();
  });
});
