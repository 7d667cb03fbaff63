// runner: servers
/** Ops of tables on servers, run where they are used: in a server, by a session. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillInputs, fillPart, type Fill } from '../../../src/backends/fill.js';
import { addedChecksums, checksumOf, type Checksum } from '../../../src/backends/table_checksum.js';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { Random } from '../../helpers/random.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import { TableClient, hyper, type Feeds } from './table_server.js';
import { describeTensorFlow } from './tensorflow_backend.js';

const bits = (values: unknown): Uint32Array => {
  const { buffer, byteOffset, length } = values as Float32Array;
  return new Uint32Array(buffer, byteOffset, length);
};

const fills = (seed: number): Fill[] => [
  { kind: 'constant', value: -0 },
  { kind: 'constant', value: 0.1 },
  { kind: 'uniform', min: -0.05, max: 0.05, seed },
  { kind: 'uniform', min: -3e38, max: 3e38, seed },
  { kind: 'uniform', min: 0.1, max: 0.1, seed },
  { kind: 'uniform', min: -1e-50, max: -1e-51, seed },
  { kind: 'uniform', min: 0, max: 1e-42, seed },
  { kind: 'normal', mean: 2, deviation: 3, seed },
  { kind: 'normal', mean: 0, deviation: 1e-40, seed },
  { kind: 'truncatedNormal', mean: 0, deviation: 0.05, seed },
  { kind: 'truncatedNormal', mean: -4, deviation: 1e9, seed },
];

describeTensorFlow('a table on a server', () => {
  let server: ServerProcess;
  let client: TableClient;
  const clients: TableClient[] = [];
  const newClient = (): TableClient => {
    clients.push(new TableClient(server));
    return clients.at(-1)!;
  };
  const ids = (values: readonly number[], width: number, gradient?: Float32Array): Feeds => ({
    values: [Int32Array.from(values), [values.length]],
    splits: [Int32Array.from({ length: values.length + 1 }, (_, i) => i), [values.length + 1]],
    weights: [new Float32Array(0), [0]],
    ...(gradient === undefined
      ? {}
      : { gradient: [gradient, [values.length, width]], hyper: [hyper(1), [hyper(1).length]] }),
  });
  const scalar = (x: number): Feeds[string] => [Int32Array.of(x), []];

  beforeAll(async () => {
    server = await ServerProcess.start();
  }, 60_000);
  afterAll(() => server.end());
  beforeEach(() => {
    loadAddon().registerTensorFlow();
    client = newClient();
  });
  afterEach(() => {
    for (const each of clients.splice(0)) each.close();
  });

  function filled(fill: Fill, shape: readonly [number, number], part: readonly [number, number, number]): Feeds {
    const { kind, key, numbers, quantiles } = fillInputs(fill);
    return {
      shape: [Int32Array.from(shape), [2]],
      part: [Int32Array.from(part), [3]],
      kind: scalar(kind),
      key: [key, [2]],
      numbers: [numbers, [3]],
      quantiles: [quantiles, [quantiles.length]],
    };
  }

  it('begins as JavaScript fills it, to the bit, in every part', () => {
    const random = new Random(11);
    for (const seed of [0, 7, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1]) {
      for (const fill of fills(seed)) {
        const last = random.chance(0.2) ? 2 ** 31 - 1 : random.whole(0, 1000);
        const shape = random.pick([
          [3, 1],
          [5, 7],
          [1, 5001],
          [700, 33],
          [0, 4],
          [4, 0],
        ] as const);
        const part = [last, random.whole(1, 5), random.pick([0, 1, 2, 1023, 2 ** 31 - 1])] as const;
        const [rows, columns] = shape;
        const expected = new Float32Array(rows * columns);
        fillPart(expected, { firstRow: part[0], rowStep: part[1], firstColumn: part[2], rows, columns }, fill);
        const [values] = client.fetch(filled(fill, shape, part), ['fill']);
        expect(bits(values)).withContext(JSON.stringify({ fill, shape, part })).toEqual(bits(expected));
      }
    }
    // Several threads share a large one.
    const expected = new Float32Array(20_000 * 20);
    const fill: Fill = { kind: 'truncatedNormal', mean: 0, deviation: 1, seed: 3 };
    fillPart(expected, { firstRow: 0, rowStep: 1, firstColumn: 0, rows: 20_000, columns: 20 }, fill);
    expect(bits(client.fetch(filled(fill, [20_000, 20], [0, 1, 0]), ['fill'])[0])).toEqual(bits(expected));
  });

  it('is filled in place of another one', () => {
    const fill: Fill = { kind: 'normal', mean: 0, deviation: 1, seed: 3 };
    client.fetch(filled(fill, [6, 3], [0, 1, 0]), [], ['fill/assign']);
    const expected = new Float32Array(18);
    fillPart(expected, { firstRow: 0, rowStep: 1, firstColumn: 0, rows: 6, columns: 3 }, fill);
    expect(client.fetch({}, ['table/read'])).toEqual([expected]);
  });

  it('refuses to be filled with what is wrong', () => {
    const right = filled({ kind: 'truncatedNormal', mean: 0, deviation: 1, seed: 1 }, [2, 2], [0, 1, 0]);
    const refused = (changes: Feeds, message: RegExp): void =>
      expect(() => client.fetch({ ...right, ...changes }, ['fill'])).toThrowError(message);
    refused({ shape: [Int32Array.of(-1, 2), [2]] }, /shape: expected no negative size, received \[-1, 2\]/);
    refused({ shape: [Int32Array.of(2 ** 31 - 1, 2 ** 31 - 1), [2]] }, /shape: .*fit into memory/);
    refused({ shape: [Int32Array.of(2), [1]] }, /shape: expected 2 numbers, received 1/);
    refused({ part: [Int32Array.of(-1, 1, 0), [3]] }, /part: /);
    refused({ part: [Int32Array.of(0, 0, 0), [3]] }, /part: /);
    refused({ kind: scalar(4) }, /kind: expected 0 to 3, received 4/);
    refused({ numbers: [Float64Array.of(0, 1, 0), [3]] }, /numbers: expected a tail/);
    refused({ numbers: [Float64Array.of(0, 1, NaN), [3]] }, /numbers: expected a tail/);
    refused({ numbers: [Float64Array.of(0, 1), [2]] }, /numbers: expected 3 numbers/);
    refused({ quantiles: [new Float64Array(767), [767]] }, /quantiles: expected 768 numbers, received 767/);
    refused({ key: [Int32Array.of(1), [1]] }, /key: expected 2 numbers/);
  });

  it('is read a few rows at a time', () => {
    client.assign(
      'table',
      Float32Array.from({ length: 12 }, (_, i) => i),
      [4, 3],
    );
    const read = (first: number, rows: number) => client.fetch({ first: scalar(first), rows: scalar(rows) }, ['read']);
    expect(read(1, 2)).toEqual([Float32Array.of(3, 4, 5, 6, 7, 8)]);
    expect(read(4, 0)).toEqual([new Float32Array(0)]);
    for (const [first, rows] of [
      [4, 1],
      [-1, 1],
      [0, 5],
      [2 ** 31 - 1, 2 ** 31 - 1],
      [0, -1],
    ] as const) {
      expect(() => read(first, rows)).toThrowError(/first_row: expected .* rows within 4/);
    }
    client.assign('table', Float32Array.of(1, 2, 3), [3]);
    expect(read(1, 2)).toEqual([Float32Array.of(2, 3)]);
    client.assign('table', Float32Array.of(1), []);
    expect(() => read(0, 1)).toThrowError(/table: expected rows, received a scalar/);
  });

  it('tells which rows have other bits', () => {
    const base = Float32Array.of(1, 2, NaN, 0, 5, 6, 7, 8);
    const table = Float32Array.of(1, 2, NaN, -0, 5, 6, 7, 9);
    client.assign('table', table, [4, 2]);
    expect(client.fetch({ base: [base, [4, 2]] }, ['changed', 'changed:1'])).toEqual([
      Int32Array.of(1, 3),
      Float32Array.of(NaN, -0, 7, 9),
    ]);
    expect(client.fetch({ base: [table, [4, 2]] }, ['changed', 'changed:1'])).toEqual([
      new Int32Array(0),
      new Float32Array(0),
    ]);
    for (const shape of [[8, 1], [2, 4], [8]]) {
      expect(() => client.fetch({ base: [base, shape] }, ['changed'])).toThrowError(
        /base: expected 4 rows of 2 numbers/,
      );
    }
  });

  it('has a checksum that adds up over any cut, the same as in JavaScript', () => {
    const random = new Random(5);
    const sum = (values: Float32Array, shape: readonly number[], place: readonly number[]): Checksum => {
      const part = [Int32Array.from(place), [place.length]] as const;
      const [found] = client.fetch({ base: [values, shape], part }, ['checksum']) as [Int32Array];
      return [found[0]! >>> 0, found[1]! >>> 0];
    };
    const seen = new Set<string>();
    for (let number = 0; number < 30; number++) {
      const [rows, columns] = number < 28 ? [random.whole(1, 40), random.whole(1, 9)] : [5000, 33];
      const values = random.floats(rows * columns);
      values[0] = [NaN, -0, Infinity][number % 3]!;
      const place = [random.whole(0, 2 ** 30), random.whole(1, 5), random.whole(0, 2 ** 31 - 1)] as const;
      const part = { firstRow: place[0], rowStep: place[1], rows, firstColumn: place[2], columns };
      const whole = sum(values, [rows, columns], place);
      expect(whole).toEqual(checksumOf(values, part));
      seen.add(whole.join());
      const cut = random.whole(0, rows);
      const parts = [
        checksumOf(values.subarray(0, cut * columns), { ...part, rows: cut }),
        checksumOf(values.subarray(cut * columns), {
          ...part,
          firstRow: part.firstRow + part.rowStep * cut,
          rows: rows - cut,
        }),
      ] as const;
      expect(addedChecksums(...parts)).toEqual(whole);
      // The same numbers in other places are another table.
      if (rows > 1) {
        const turned = Float32Array.from([...values.subarray(columns), ...values.subarray(0, columns)]);
        expect(sum(turned, [rows, columns], place)).not.toEqual(whole);
      }
    }
    expect(seen.size).toBe(30);
    expect(sum(new Float32Array(0), [0, 4], [0, 1, 0])).toEqual([0, 0]);
    const one = Float32Array.of(1);
    for (const place of [
      [-1, 1, 0],
      [0, 0, 0],
      [0, 1, -1],
    ]) {
      expect(() => sum(one, [1, 1], place)).toThrowError(/part: expected a first row, a step of rows/);
    }
    expect(() => sum(one, [1, 1], [0, 1])).toThrowError(/part: expected 3 numbers, received 2/);
    expect(() => sum(one, [], [0, 1, 0])).toThrowError(/table: expected rows, received a scalar/);
  });

  it('shares its memory with who reads it, until stock ops read it', () => {
    client.assign('other', new Float32Array(8), [4, 2]);
    expect(client.fetch({}, ['is_own'])).toEqual([Int32Array.of(1)]);
    client.fetch({ values: [Int32Array.of(1), [1]] }, ['gathered']);
    expect(client.fetch({}, ['is_own'])).toEqual([Int32Array.of(0)]);
    const one = Float32Array.of(1);
    expect(client.fetch({ a: [one, [1]], b: [one, [1]] }, ['shares'])).toEqual([Int32Array.of(0)]);
  });

  it('loses no step of several clients, and nobody sees half of one', () => {
    // A bag of all rows: small messages, steps that take long.
    const [rows, width, clientCount, steps] = [4096, 256, 4, 60];
    client.assign('table', new Float32Array(rows * width), [rows, width]);
    const bag: Feeds = {
      values: [Int32Array.from({ length: rows }, (_, i) => i), [rows]],
      splits: [Int32Array.of(0, rows), [2]],
      weights: [new Float32Array(0), [0]],
    };
    const gradient: Feeds[string] = [new Float32Array(width).fill(-1), [1, width]];
    const step = client.run({ ...bag, gradient, hyper: [hyper(1), [hyper(1).length]] }, [], ['sgd']);
    const lookup = client.run(bag, ['bag']);
    const readers = Array.from({ length: 2 }, newClient);
    const writers = Array.from({ length: clientCount }, newClient);
    const started: [TableClient, number][] = [];
    const lookups: [TableClient, number][] = [];
    for (let i = 0; i < steps; i++) {
      for (const writer of writers) started.push([writer, writer.start(step)]);
      for (const reader of readers) lookups.push([reader, reader.start(lookup, lookup)]);
    }
    for (const [writer, group] of started) expect(writer.finish(group)[0]!.message).toBe('');
    for (const { values } of lookups.flatMap(([reader, group]) => reader.finish(group))) {
      const sums = new Set(values[0] as Float32Array);
      expect(sums.size).toBe(1);
      expect([...sums][0]! % rows).toBe(0);
    }
    expect(new Set(client.fetch({}, ['table/read'])[0] as Float32Array)).toEqual(new Set([clientCount * steps]));
  }, 60_000);

  it('is saved with its slot between two steps, while clients train', () => {
    const [rows, width] = [32, 512];
    client.assign('table', new Float32Array(rows * width), [rows, width]);
    client.assign('slot', new Float32Array(rows * width), [rows, width]);
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-saved-'));
    const all = Array.from({ length: rows }, (_, i) => i);
    const step = client.run(ids(all, width, new Float32Array(rows * width).fill(1)), [], ['step']);
    const names = (i: number): Feeds => ({
      prefix: [[join(folder, String(i))], []],
      names: [['table', 'slot'], [2]],
      slices: [['', ''], [2]],
      purpose: [[String(i)], []],
      first: scalar(0),
      rows: scalar(rows),
    });
    const [savers, writers] = [Array.from({ length: 3 }, newClient), Array.from({ length: 6 }, newClient)];
    const started: [TableClient, number][] = [];
    for (let i = 0; i < 30; i++) {
      for (const writer of writers) started.push([writer, writer.start(step)]);
      savers.forEach((saver, s) => started.push([saver, saver.start(saver.run(names(3 * i + s), [], ['save']))]));
    }
    for (const [each, group] of started) expect(each.finish(group)[0]!.message).toBe('');
    for (let i = 0; i < 90; i++) {
      const [table, slot] = client.fetch(names(i), ['restore', 'restore:1']) as [Float32Array, Float32Array];
      expect([new Set(table).size, new Set(slot).size]).toEqual([1, 1]);
      // The slot counts the steps, the table follows from it.
      let weight = 0;
      for (let n = 1; n <= slot[0]!; n++) weight = Math.fround(weight - 1 / Math.sqrt(n));
      expect(Math.abs(table[0]! - weight))
        .withContext(`${table[0]} ${slot[0]} ${weight}`)
        .toBeLessThan(1e-4 * Math.max(1, Math.abs(weight)));
    }
    rmSync(folder, { recursive: true });
  }, 120_000);

  it('lies on a server that tells of itself', () => {
    const [numbers, isa] = client.fetch({}, ['info', 'info:1']) as [Float64Array, string[]];
    const [version, seconds, limit, resident, kernels, threads, processId] = numbers;
    expect(version).toBe(1);
    expect(seconds).toBeGreaterThan(0);
    expect(limit).toBe(-1);
    expect(resident).toBeGreaterThan(2 ** 24);
    expect(kernels).toBe(0);
    expect(threads).toBeGreaterThan(0);
    expect(processId).toBe(server.pid);
    expect(isa).toEqual([loadAddon().instructionSet()]);
  });
});
