import type { HostTable } from '../../../src/backends/kernel_set.js';
import type { ListScanJob, RankJob } from '../../../src/backends/ranking.js';
import { FLOAT16 } from '../../../src/codecs/float16.js';
import { FLOAT32 } from '../../../src/codecs/float32.js';
import { INT8 } from '../../../src/codecs/int8.js';
import type { Codec } from '../../../src/codecs/codec.js';
import { listKernels } from '../../../src/ranking/ann/list_kernels.js';
import { plainKernels } from '../../../src/ranking/ann/reference.js';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';

/** Rows of whole numbers, whose products are exact in any order and often the same. */
function tableOf(random: Random, codec: Codec, rows: number, dim: number): HostTable {
  const numbers = Float32Array.from({ length: rows * dim }, () => random.whole(-4, 5));
  // The first two columns give each row the scale 1, so that codes stand for these numbers.
  for (let row = 0; row < rows && dim > 1; row++) numbers.set([-100, 155], row * dim);
  const data = codec.isPlain ? numbers : new Int32Array(rows * codec.words(dim));
  if (!codec.isPlain) codec.pack(numbers, dim, data);
  return { codec, data, rows, dim };
}

function shuffled(random: Random, count: number): Int32Array {
  const ids = Int32Array.from({ length: count }, (_, i) => 3 * i);
  for (let i = count - 1; i > 0; i--) {
    const j = random.whole(0, i + 1);
    [ids[i], ids[j]] = [ids[j]!, ids[i]!];
  }
  return ids;
}

function queriesOf(random: Random, count: number, dim: number): Float32Array {
  // The first columns count for nothing: all rows have the same there.
  return Float32Array.from({ length: count * dim }, (_, i) => (dim > 1 && i % dim < 2 ? 0 : random.whole(-3, 4)));
}

function scanJob(random: Random, codec: Codec): ListScanJob {
  const [rows, dim] = [random.whole(0, 900), random.pick([1, 2, 3, 8, 17, 32, 33, 70])];
  const [count, k, lists] = [random.whole(0, 40), random.pick([1, 3, 20]), random.whole(1, 12)];
  const table = tableOf(random, codec, rows, dim);
  const bounds = [0, ...Array.from({ length: lists - 1 }, () => random.whole(0, rows + 1)), rows].sort((a, b) => a - b);
  const members: number[] = [];
  const splits = [0];
  for (let list = 0; list < lists; list++) {
    for (let query = 0; query < count; query++) if (random.chance(0.4)) members.push(query);
    splits.push(members.length);
  }
  const exclude = Array.from({ length: count }, () => {
    return [...new Set(Array.from({ length: random.whole(0, 60) }, () => random.whole(0, 3 * rows + 1)))].sort(
      (a, b) => a - b,
    );
  });
  const excludeSplits = [0];
  for (const list of exclude) excludeSplits.push(excludeSplits.at(-1)! + list.length);
  return {
    table,
    ids: shuffled(random, rows),
    starts: Int32Array.from(bounds.slice(0, -1)),
    // Some lists have room behind their rows.
    ends: Int32Array.from(bounds.slice(1), (end, list) => Math.max(bounds[list]!, end - random.whole(0, 3))),
    members: Int32Array.from(members),
    splits: Int32Array.from(splits),
    queries: queriesOf(random, count, dim),
    count,
    k,
    exclude: random.chance(0.5)
      ? null
      : { values: Int32Array.from(exclude.flat()), rowSplits: Int32Array.from(excludeSplits) },
    values: new Float32Array(count * k).fill(-Infinity),
    indices: new Int32Array(count * k).fill(-1),
  };
}

/** The best of two calls, each with some of the lists, as the second goes on with what the first left. */
function scanned(kernels: Pick<typeof plainKernels, 'scanLists'>, job: ListScanJob): [number[], number[]] {
  const [values, indices] = [job.values.slice(), job.indices.slice()];
  const half = job.starts.length >> 1;
  for (const [first, end] of [
    [0, half],
    [half, job.starts.length],
  ] as const) {
    const from = job.splits[first]!;
    kernels.scanLists({
      ...job,
      starts: job.starts.slice(first, end),
      ends: job.ends.slice(first, end),
      members: job.members.slice(from, job.splits[end]),
      splits: job.splits.slice(first, end + 1).map((split) => split - from),
      values,
      indices,
    });
  }
  return [[...values], [...indices]];
}

describeForBackends('kernels of lists', () => {
  it('scan what the reference scans, ties by the lower id in any order of rows', () => {
    const random = new Random(11);
    for (let round = 0; round < 60; round++) {
      const job = scanJob(random, random.pick([FLOAT32, FLOAT16, INT8]));
      const { rows, dim, codec } = job.table;
      expect(scanned(listKernels(), job))
        .withContext(`${codec.name}: ${rows} x ${dim}, ${job.count} queries, k ${job.k}`)
        .toEqual(scanned(plainKernels, job));
    }
  });

  it('scan the same with any number of threads', () => {
    const random = new Random(12);
    const jobs = Array.from({ length: 6 }, () => scanJob(random, INT8));
    try {
      const [one, ...others] = [1, 2, 5].map((threads) => {
        emb.setThreads(threads);
        return jobs.map((job) => scanned(listKernels(), job));
      });
      for (const other of others) expect(other).toEqual(one!);
    } finally {
      emb.setThreads(2);
    }
  });

  it('rank rows as the reference does, to the bit', () => {
    const random = new Random(13);
    // Rows lie outside of the memory of WebAssembly, which therefore leaves this to TypeScript.
    const kernels = listKernels();
    for (let round = 0; round < 60; round++) {
      const codec = random.pick([FLOAT32, INT8]);
      const [rows, dim] = [random.whole(1, 200), random.pick([1, 3, 8, 9, 15, 16, 64, 67])];
      const [count, k, m] = [random.whole(0, 9), random.pick([1, 4, 30]), random.whole(0, 25)];
      const numbers = Float32Array.from(
        { length: rows * dim },
        () => 10 ** random.whole(-3, 4) * (random.next() - 0.5),
      );
      const data = codec.isPlain ? numbers : new Int32Array(rows * codec.words(dim));
      if (!codec.isPlain) codec.pack(numbers, dim, data);
      const job: Omit<RankJob, 'values' | 'indices'> = {
        table: { codec, data, rows, dim },
        ids: random.chance(0.5) ? null : shuffled(random, rows),
        queries: Float32Array.from({ length: count * dim }, () => random.next() - 0.5),
        count,
        candidates: Int32Array.from({ length: count * m }, () => (random.chance(0.1) ? -1 : random.whole(0, rows))),
        m,
        k,
      };
      const [a, b] = [kernels, plainKernels].map((each) => {
        const written = { values: new Float32Array(count * k).fill(7), indices: new Int32Array(count * k).fill(7) };
        each.rankRows({ ...job, ...written });
        return written;
      });
      expect(a).withContext(`${codec.name}: ${rows} x ${dim}`).toEqual(b!);
    }
  });

  it('leave products out that are no numbers, and refuse rows that are not there', () => {
    const data = Float32Array.of(1, NaN, Infinity, -Infinity, 3);
    const table = { codec: FLOAT32, data, rows: 5, dim: 1 };
    const lists = {
      starts: Int32Array.of(0),
      ends: Int32Array.of(5),
      members: Int32Array.of(0),
      splits: Int32Array.of(0, 1),
    };
    const query = { queries: Float32Array.of(1), count: 1, k: 5, exclude: null };
    const written = { values: new Float32Array(5).fill(-Infinity), indices: new Int32Array(5).fill(-1) };
    listKernels().scanLists({ table, ids: Int32Array.of(0, 1, 2, 3, 4), ...lists, ...query, ...written });
    expect([...written.indices]).toEqual([2, 4, 0, -1, -1]);
    const rank = { table, ids: null, queries: Float32Array.of(1), count: 1, m: 1, k: 1 };
    const one = { values: new Float32Array(1), indices: new Int32Array(1) };
    const kernels = listKernels();
    const call = (): void =>
      (kernels.rankRows ?? plainKernels.rankRows)({ ...rank, candidates: Int32Array.of(5), ...one });
    expect(call).toThrow();
  });
});
