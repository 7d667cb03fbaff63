/** Every argument of data sets, right and odd, with the batches that come of them. */
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '../../src/node.js';
import { columnsOf, fromArrays, fromCsv, type Dataset } from '../../src/data/index.js';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';

type Args = Record<string, unknown>;

const columns = (): Args => ({
  ids: [[1, 2], [], [3], [4, 5]], // prettier-ignore
  price: [0.5, 1, 2, 4],
  label: [1, 0, 1, 0],
});
const small = (): Dataset => fromArrays(columns() as never, { label: 'label' });

async function batchesOf(dataset: Dataset): Promise<unknown[]> {
  const batches: unknown[] = [];
  for await (const batch of dataset.batch(3)) batches.push(batch);
  return batches;
}

/** What a method makes of a small set. */
const method = (run: (dataset: Dataset, args: never) => unknown, args: () => Args): Call => ({
  args,
  run: (given) => run(small(), given as never),
});

describe('data', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'each_argument-'));
    writeFileSync(join(folder, 'rows.csv'), 'city;price;label\nrome;1.5;1\nnone;2;0\nparis;none;1\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
    fromArrays: {
      args: () => ({ arrays: columns(), columns: { ids: 'ids', price: 'float' }, label: 'label', weight: 'price' }),
      run: ({ arrays, ...options }) => batchesOf(fromArrays(arrays, options)),
    },
    'an array of fromArrays': {
      args: () => ({ ids: [[1], [2, 3]], city: ['rome', 'paris'], count: Int32Array.of(3, 4) }), // prettier-ignore
      run: (arrays) => batchesOf(fromArrays(arrays)),
    },
    'a column': {
      args: () => ({ type: 'float', missing: 'error', column: 'price', part: undefined }),
      run: (price) => batchesOf(fromArrays(columns() as never, { columns: { price } })),
    },
    fromCsv: {
      args: () => ({
        columns: { city: 'string', price: { type: 'float', missing: 7 } },
        label: 'label',
        weight: undefined,
        delimiter: ';',
        header: true,
        naValues: ['none'],
      }),
      run: (args) => batchesOf(fromCsv(join(folder, 'rows.csv'), args)),
    },
    columnsOf: {
      args: () => ({ source: join(folder, 'rows.csv'), delimiter: ';' }),
      run: async ({ source, ...options }) => [...Object.entries(await columnsOf(source, options))],
    },
    shuffle: method((dataset, { bufferSize, seed }: { bufferSize: number; seed: number }) => {
      const shuffled = dataset.shuffle(bufferSize, seed);
      return seed === undefined ? 'any order' : batchesOf(shuffled);
    }, () => ({ bufferSize: 3, seed: 5 })), // prettier-ignore
    batch: method(async (dataset, { batchSize, ...options }: { batchSize: number }) => {
      const batches: unknown[] = [];
      for await (const batch of dataset.batch(batchSize, options)) batches.push(batch);
      return batches;
    }, () => ({ batchSize: 3, dropRemainder: true })), // prettier-ignore
    repeat: method(async (dataset, { count }: { count: number }) => {
      const all: unknown[] = [];
      for await (const row of dataset.repeat(count).take(9)) all.push(row);
      return all.length;
    }, () => ({ count: 2 })), // prettier-ignore
    'take, skip': method(
      (dataset, { take, skip }: { take: number; skip: number }) => batchesOf(dataset.skip(skip).take(take)),
      () => ({ take: 2, skip: 1 }),
    ),
    prefetch: method((dataset, { count }: { count: number }) => batchesOf(dataset.prefetch(count)), () => ({ count: 2 })), // prettier-ignore
    split: method(
      async (dataset, { fraction, seed }: { fraction: number; seed: number }) =>
        Promise.all(dataset.split(fraction, seed).map(batchesOf)),
      () => ({ fraction: 0.5, seed: 2 }),
    ),
    shard: method(
      (dataset, { count, index }: { count: number; index: number }) => batchesOf(dataset.shard(count, index)),
      () => ({ count: 2, index: 1 }),
    ),
  });
});
