/** Streams of rows beside operations on plain arrays of rows. */
import type { Chunk, Column } from '../../src/data/chunk.js';
import { concatChunks, gatherChunk, part, sliceChunk } from '../../src/data/chunk.js';
import {
  batchRows,
  chooseRows,
  randomAt,
  readAhead,
  shuffleRows,
  skipRows,
  takeRows,
  type Chunks,
} from '../../src/data/row_stream.js';
import { Random } from '../helpers/random.js';

/** A chunk with the numbers of its rows in each kind of column. */
function chunkOf(rows: readonly number[]): Chunk {
  const splits = [0];
  const values: number[] = [];
  for (const row of rows) {
    for (let i = 0; i < row % 4; i++) values.push(row * 10 + i);
    splits.push(values.length);
  }
  const columns = new Map<string, Column>([
    ['one', { values: Int32Array.from(rows), width: 1, rowSplits: null }],
    ['two', { values: Float32Array.from(rows.flatMap((row) => [row / 2, -row])), width: 2, rowSplits: null }],
    ['text', { values: rows.map((row) => `r${row}`), width: 1, rowSplits: null }],
    ['list', { values: Int32Array.from(values), width: 0, rowSplits: Int32Array.from(splits) }],
  ]);
  return { count: rows.length, columns };
}

/** The rows of a chunk, all of whose columns must tell the same. */
function rowsOf(chunk: Chunk): number[] {
  const { values } = chunk.columns.get('one')!;
  const rows = Array.from(values as Int32Array);
  expect(rows.length).toBe(chunk.count);
  const expected = chunkOf(rows);
  for (const [name, column] of expected.columns) {
    const found = chunk.columns.get(name)!;
    expect(found.width).toBe(column.width);
    expect(Array.from(found.values as Int32Array))
      .withContext(name)
      .toEqual(Array.from(column.values as Int32Array));
    expect(found.values.constructor).toBe(column.values.constructor);
    expect(found.rowSplits).withContext(name).toEqual(column.rowSplits);
  }
  return rows;
}

const counted = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Rows 0 to before `count` in chunks of random sizes, and how many of them were asked for. */
function drawn(seed: number, count: number): Chunks & { asked: number; isClosed: boolean } {
  const random = new Random(seed);
  const state = {
    asked: 0,
    isClosed: false,

    async *[Symbol.asyncIterator]() {
      try {
        for (let start = 0; start < count;) {
          const end = Math.min(count, start + random.whole(1, 9));
          state.asked += 1;
          yield chunkOf(counted(end).slice(start));
          start = end;
        }
      } finally {
        state.isClosed = true;
      }
    },
  };
  return state;
}

async function chunksOf(chunks: Chunks): Promise<number[][]> {
  const all: number[][] = [];
  for await (const chunk of chunks) {
    expect(chunk.count).toBeGreaterThan(0);
    all.push(rowsOf(chunk));
  }
  return all;
}

const all = async (chunks: Chunks): Promise<number[]> => (await chunksOf(chunks)).flat();

describe('chunks of rows', () => {
  it('are cut, gathered and joined as rows are', () => {
    const chunk = chunkOf([5, 3, 8, 2, 7]);
    expect(rowsOf(sliceChunk(chunk, 1, 4))).toEqual([3, 8, 2]);
    expect(rowsOf(sliceChunk(chunk, 2, 2))).toEqual([]);
    expect(sliceChunk(chunk, 0, 5)).toBe(chunk);
    for (const values of [['a', 'b', 'c', 'd'], Int32Array.of(1, 2, 3, 4)]) {
      const pairs = { count: 2, columns: new Map([['x', { values, width: 2, rowSplits: null }]]) } as never as Chunk;
      const found = gatherChunk(pairs, Int32Array.of(1, 0, 1)).columns.get('x')!.values;
      expect([...(found as Int32Array)] as unknown[]).toEqual([2, 3, 0, 1, 2, 3].map((place) => values[place]));
    }
    // What is whole is not copied.
    const texts = ['a', 'b'];
    expect(part(texts, 0, 2)).toBe(texts);
    expect([part(texts, 1, 2), part(texts, 0, 1), part(Int32Array.of(1, 2), 1, 2)]).toEqual([
      ['b'],
      ['a'],
      Int32Array.of(2),
    ] as never);
    expect(rowsOf(sliceChunk(sliceChunk(chunk, 1, 5), 1, 3))).toEqual([8, 2]);
    expect(rowsOf(gatherChunk(chunk, Int32Array.of(4, 0, 0, 2)))).toEqual([7, 5, 5, 8]);
    expect(rowsOf(concatChunks([chunk, sliceChunk(chunk, 3, 5), chunkOf([]), chunkOf([9])]))).toEqual([
      5, 3, 8, 2, 7, 2, 7, 9,
    ]);
  });
});

describe('streams of rows', () => {
  for (let seed = 0; seed < 20; seed++) {
    const count = [0, 1, 7, 40, 100][seed % 5]!;
    const random = new Random(seed + 500);
    const some = random.whole(0, count + 3);

    it(`take, skip, choose and batch ${count} rows in chunks of sizes ${seed}`, async () => {
      expect(await all(takeRows(drawn(seed, count), some))).toEqual(counted(count).slice(0, some));
      expect(await all(skipRows(drawn(seed, count), some))).toEqual(counted(count).slice(some));
      const isChosen = (row: number): boolean => row % 3 === some % 3;
      expect(await all(chooseRows(drawn(seed, count), isChosen))).toEqual(counted(count).filter(isChosen));
      const size = 1 + some;
      const batches = await chunksOf(batchRows(drawn(seed, count), size, false));
      expect(batches.flat()).toEqual(counted(count));
      expect(batches.slice(0, -1).every(({ length }) => length === size)).toBeTrue();
      expect(batches.length).toBe(Math.ceil(count / size));
      const whole = await chunksOf(batchRows(drawn(seed, count), size, true));
      expect(whole).toEqual(batches.filter(({ length }) => length === size));
      expect(await all(readAhead(drawn(seed, count), some))).toEqual(counted(count));
    });

    it(`shuffle ${count} rows in chunks of sizes ${seed}`, async () => {
      const size = 1 + some;
      const draw = randomAt(seed, 3);
      let place = 0;
      const mixed = await all(shuffleRows(drawn(seed, count), size, () => draw(place++)));
      expect([...mixed].sort((a, b) => a - b)).toEqual(counted(count));
      // A row comes out after it came in: a buffer holds no more than its size.
      mixed.forEach((row, at) => expect(row - at).toBeLessThan(size));
      if (size > 8 && count > 8) expect(mixed).not.toEqual(counted(count));
    });
  }

  it('put a whole buffer into each order equally often', async () => {
    const seen = new Map<string, number>();
    const draw = randomAt(11, 0);
    let place = 0;
    for (let i = 0; i < 1200; i++) {
      const order = (await all(shuffleRows(drawn(1, 3), 3, () => draw(place++)))).join('');
      seen.set(order, (seen.get(order) ?? 0) + 1);
    }
    expect(seen.size).toBe(6);
    // 200 of each, give or take five deviations of 13.
    for (const times of seen.values()) expect(Math.abs(times - 200)).toBeLessThan(65);
  });

  it('carry rows far through a small buffer, at times', async () => {
    const draw = randomAt(2, 0);
    let place = 0;
    const mixed = await all(shuffleRows(drawn(4, 400), 20, () => draw(place++)));
    expect(Math.max(...mixed.map((row, at) => at - row))).toBeGreaterThan(20);
  });

  it('draw the same numbers for a seed, others for another seed or stream', () => {
    const numbers = (seed: number, stream: number): number[] => counted(3000).map(randomAt(seed, stream));
    const first = numbers(5, 0);
    expect(numbers(5, 0)).toEqual(first);
    expect(counted(3000).reverse().map(randomAt(5, 0)).reverse()).toEqual(first);
    expect(new Set([...first, ...numbers(5, 1), ...numbers(6, 0)]).size).toBeGreaterThan(8990);
    const mean = first.reduce((sum, each) => sum + each, 0) / 3000;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.03);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...first)).toBeLessThan(1);
  });

  it('read no further than they need, and close what they read', async () => {
    const none = drawn(1, 50);
    expect(await all(takeRows(none, 0))).toEqual([]);
    expect(none.asked).toBe(0);
    const few = drawn(1, 50);
    await all(takeRows(few, 1));
    expect(few.asked).toBe(1);
    expect(few.isClosed).toBeTrue();
    const ahead = drawn(1, 50);
    for await (const chunk of readAhead(ahead, 2)) {
      expect(chunk.count).toBeGreaterThan(0);
      break;
    }
    expect(ahead.asked).toBe(3);
    expect(ahead.isClosed).toBeTrue();
  });

  it('tell of a failure where the chunk was asked for', async () => {
    const failing: Chunks = {
      async *[Symbol.asyncIterator]() {
        yield chunkOf([0]);
        throw new Error('no more');
      },
    };
    const seen: number[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of readAhead(failing, 3)) seen.push(...rowsOf(chunk));
    };
    await expectAsync(read()).toBeRejectedWithError('no more');
    expect(seen).toEqual([0]);
  });

  it('fail where they are asked for, and kill no process while they wait', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      let failed = 0;
      const chunks = async function* (): AsyncGenerator<Chunk> {
        yield chunkOf([1]);
        failed += 1;
        throw new Error('no more');
      };
      const ahead = readAhead(chunks(), 3);
      expect((await ahead.next()).done).toBeFalse();
      // The failure is there, nobody has asked for it, and the process has looked for those.
      while (failed === 0) await new Promise((done) => setImmediate(done));
      for (let i = 0; i < 5; i++) await new Promise((done) => setImmediate(done));
      expect(unhandled).toEqual([]);
      await expectAsync(ahead.next()).toBeRejectedWithError('no more');
      expect((await ahead.next()).done).toBeTrue();
      // One who stops before leaves the failure behind.
      const left = readAhead(chunks(), 3);
      await left.next();
      await left.return(undefined);
      for (let i = 0; i < 5; i++) await new Promise((done) => setImmediate(done));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });
});
