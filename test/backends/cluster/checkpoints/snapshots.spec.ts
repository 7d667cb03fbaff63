// runner: servers
/** Snapshots of a table and its slots in a server: what was there when they began, whatever is written meanwhile. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon } from '../../../../src/backends/native/addon.js';
import { HYPER_FIELDS, NEUTRAL_HYPER, type Hyper } from '../../../../src/rules/hyper.js';
import { unfinishedOf } from '../../../../src/backends/cluster/checkpoints/unfinished.js';
import { ServerProcess } from '../../../helpers/servers/server_process.js';
import { TableClient, type Feeds } from '../../tensorflow/table_server.js';
import { describeTensorFlow } from '../../tensorflow/tensorflow_backend.js';

// More rows than are copied at once, and than are kept at once before a lock.
const [ROWS, WIDTH, FIRST] = [30_000, 24, 11_000];

describeTensorFlow('a snapshot of a table and its slot', () => {
  let server: ServerProcess;
  let client: TableClient;
  const size = ROWS * WIDTH;
  const table = Float32Array.from({ length: size }, (_, i) => (i % 97) + 0.25);
  const slot = Float32Array.from({ length: size }, (_, i) => 1 + (i % 13) / 2);
  const scalar = (x: number): Feeds[string] => [Int32Array.of(x), []];
  const one: Feeds = { purpose: [['one'], []] };

  beforeAll(async () => {
    server = await ServerProcess.start();
    loadAddon().registerTensorFlow();
    client = new TableClient(server);
  }, 60_000);
  afterAll(() => {
    client.close();
    return server.end();
  });
  beforeEach(() => {
    client.assign('table', table, [ROWS, WIDTH]);
    client.assign('slot', slot, [ROWS, WIDTH]);
    client.assign('other', new Float32Array(size), [ROWS, WIDTH]);
  });

  function stepOf(ids: readonly number[], hyper: Partial<Hyper>): Feeds {
    const all = { ...NEUTRAL_HYPER, learningRate: 1, ...hyper };
    const gradient = new Float32Array(ids.length * WIDTH).fill(-1);
    return {
      values: [Int32Array.from(ids), [ids.length]],
      splits: [Int32Array.from({ length: ids.length + 1 }, (_, i) => i), [ids.length + 1]],
      weights: [new Float32Array(0), [0]],
      gradient: [gradient, [ids.length, WIDTH]],
      hyper: [Float32Array.from(HYPER_FIELDS, (name) => all[name]), [HYPER_FIELDS.length]],
    };
  }

  /** Both blocks of a snapshot, and the table as it is afterwards. */
  function around(late: 'step' | 'adam' | 'write', feeds: Feeds): { kept: Float32Array[]; now: Float32Array[] } {
    // A block is as many rows as `rows` says, and so is the one after it.
    const blocks = { first: scalar(0), second: scalar(FIRST), rows: scalar(FIRST) };
    const [a, b, c, d] = client.fetch({ ...one, ...feeds, ...blocks }, [
      'early',
      'early:1',
      `rows/${late}`,
      `rows/${late}:1`,
    ]) as Float32Array[];
    const now = ['table/read', 'slot/read'].map((each) => client.fetch({}, [each])[0] as Float32Array);
    return { kept: [joined(a!, c!), joined(b!, d!)], now };
  }

  function joined(first: Float32Array, second: Float32Array): Float32Array {
    const all = new Float32Array(first.length + second.length);
    all.set(first);
    all.set(second, first.length);
    return all;
  }

  function expectKept(kept: readonly Float32Array[]): void {
    for (const [i, wanted] of [table, slot].entries()) {
      const differs = kept[i]!.findIndex((value, at) => value !== wanted[at]);
      expect(differs)
        .withContext(`the first other number of ${['table', 'slot'][i]}`)
        .toBe(-1);
      expect(kept[i]!.length).toBe(2 * FIRST * WIDTH);
    }
  }

  it('has rows as they were before a step, which goes on', () => {
    const ids = [5, FIRST - 1, FIRST, FIRST + 1, 2 * FIRST - 1, FIRST, ROWS - 1];
    const { kept, now } = around('step', stepOf(ids, {}));
    expectKept(kept);
    for (const id of ids) for (const i of [0, 1]) expect(now[i]![id * WIDTH]).not.toBe([table, slot][i]![id * WIDTH]!);
    expect(now[0]![6 * WIDTH]).toBe(table[6 * WIDTH]!);
  });

  it('has rows as they were before a step of all rows', () => {
    const { kept, now } = around('adam', stepOf([3], { lazy: 0, beta1: 0.5, beta2: 0.5, epsilon: 1e-7 }));
    expectKept(kept);
    // Rows without ids have moved.
    for (const row of [4, FIRST + 7, ROWS - 1]) expect(now[0]![row * WIDTH]).not.toBe(table[row * WIDTH]!);
  });

  it('has rows as they were before limits of all rows', () => {
    const { kept, now } = around('step', stepOf([3], { lazy: 0, clipWeightMax: 1 }));
    expectKept(kept);
    expect(now[0]![(FIRST + 7) * WIDTH]).toBe(1);
  });

  it('has rows of a slot as they were before they were written', () => {
    const base: Feeds[string] = [new Float32Array(2 * WIDTH).fill(-7), [2 * WIDTH]];
    const { kept, now } = around('write', { base });
    expectKept(kept);
    expect(now[1]![FIRST * WIDTH]).toBe(-7);
    expect(now[0]![FIRST * WIDTH]).toBe(table[FIRST * WIDTH]!);
  });

  it('lasts as long as its run, and is found by its purpose', () => {
    const blocks = { first: scalar(0), rows: scalar(1) };
    const counted = (): unknown => client.fetch({ ...one, ...blocks }, ['count', 'rows/count'])[0];
    expect(counted()).toEqual(Int32Array.of(1));
    // One that fails ends too.
    expect(() => client.fetch({ ...one, first: scalar(1), rows: scalar(1) }, ['early'])).toThrowError(
      /first_row: expected 1 rows within 30000 from 0 on, received 1 as the first/,
    );
    expect(() => client.fetch({ ...one, first: scalar(0), rows: scalar(ROWS + 1) }, ['early'])).toThrowError(
      /first_row: expected 30001 rows within 30000/,
    );
    expect(counted()).toEqual(Int32Array.of(1));
  });

  it('is of arrays with as many rows each, and of none too', () => {
    client.assign('slot', slot.subarray(WIDTH), [ROWS - 1, WIDTH]);
    const rows = { first: scalar(0), rows: scalar(0) };
    expect(() => client.fetch({ ...one, ...rows }, ['early'])).toThrowError(
      /tables: expected 30000 rows as the first has, received 29999/,
    );
    client.assign('table', new Float32Array(0), [0, 2]);
    client.assign('slot', new Float32Array(0), [0, 2]);
    expect(client.fetch({ ...one, ...rows }, ['early', 'early:1'])).toEqual([new Float32Array(0), new Float32Array(0)]);
  });

  it('removes files of unfinished saves, and no others', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-unfinished-'));
    const inside = join(folder, 'one_temp');
    mkdirSync(inside);
    const places = [
      '3.data-00000-of-00001.tempstate17',
      '3.index',
      '0.index.tempstate4',
      '12.data-00000-of-00001',
      'other.index',
      '3.txt',
      '3.index.old',
    ].map((name) => join(inside, name));
    for (const place of places) writeFileSync(place, '');
    const own = unfinishedOf(join(folder, 'one'), [
      ...places,
      join(folder, 'one.index'),
      join(folder, 'two_temp/3.index'),
    ]);
    expect(own).toEqual(places.slice(0, 4));
    expect(client.fetch({ files: [own, [own.length]] }, ['remove'])).toEqual([Int32Array.of(4)]);
    expect(places.map((place) => existsSync(place))).toEqual(places.map((_, i) => i > 3));
    for (const strange of [join(inside, 'other.index'), join(folder, 'one.index'), '/etc/3.index', '3.index']) {
      expect(() => client.fetch({ files: [[strange], [1]] }, ['remove'])).toThrowError(
        /files: expected parts of checkpoints that were not finished, received/,
      );
    }
    rmSync(folder, { recursive: true });
  });
});
