/**
 * Disk tables: memory over a sparse file of 20 GB; rows a second of a written file of 4 GB beside a plain loop in C with as
 * many threads (read_loop.c, compiled by gcc), in turns; a lookup whose rows are all in the cache beside one in memory;
 * how often rows drawn by zipf 1.05 are found beside the best cache that never changes; and a step whose reads fit into
 * its compute, with `prefetch`, beside the same in memory. Prints JSON lines.
 *   node --import tsx tools/bench/tables/disk_tables.ts [cpu | tensorflow] [gigabytes] [folder]
 */
import * as tf from '@tensorflow/tfjs';
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DiskTable } from '../../../src/node.js';
import { npyHeaderBytes } from '../../../src/io/npy_writer.js';
import { drawnRank, Random, zipfSums } from '../../../test/helpers/random.js';
import { Load, median, printLine } from '../stopwatch.js';

const [backend = 'cpu', gigabytes = '4', under = tmpdir()] = process.argv.slice(2);
if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
const emb = await import('../../../src/node.js');
await tf.setBackend(backend);

const [dim, threads, count] = [64, 16, 40_960];
const rows = Math.floor((Number(gigabytes) * 2 ** 30) / (4 * dim));
const folder = mkdtempSync(join(under, 'disk-tables-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const random = new Random(1);
const load = new Load();
const sizes = { bench: 'disk tables', backend, rows, dim };
const drawn = (below: number, of = count): Int32Array => Int32Array.from({ length: of }, () => random.whole(0, below));
const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

function ms(run: () => void): number {
  const from = performance.now();
  run();
  return performance.now() - from;
}

function lookUp(table: DiskTable | tf.Tensor2D, ids: Int32Array): void {
  tf.dispose(emb.embeddingLookup(table as tf.Tensor2D, ids) as tf.Tensor);
}

// Memory, before anything else took some: holes are not read from a disk.
{
  const path = join(folder, 'sparse.npy');
  const [sparse, header] = [80_000_000, npyHeaderBytes([80_000_000, dim], '<f4')];
  writeFileSync(path, header);
  const file = openSync(path, 'r+');
  ftruncateSync(file, header.length + sparse * 4 * dim);
  closeSync(file);
  lookUp(tf.ones([10, dim]), drawn(10));
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const table = await emb.diskTable({ file: path, cacheBytes: 100e6, io: { threads } });
  let most = 0;
  for (let round = 0; round < 40; round++) {
    lookUp(table, drawn(sparse));
    most = Math.max(most, process.memoryUsage().rss);
  }
  const { misses } = table.stats();
  table.close();
  rmSync(path);
  const what = 'memory, of a sparse file';
  printLine({
    ...sizes,
    what,
    rows: sparse,
    megabytes: megabytes(sparse * 4 * dim),
    misses,
    overMb: megabytes(most - before),
  });
}

const file = join(folder, 'written.rows');
const made = performance.now();
const maker = await emb.diskTable.create({ file, rows, outputDim: dim, seed: 1, trainable: false });
maker.close();
const seconds = (performance.now() - made) / 1000;
printLine({
  ...sizes,
  what: 'create',
  megabytes: megabytes(statSync(file).size),
  megabytesPerSecond: megabytes(statSync(file).size) / seconds,
});

// Misses beside a plain loop, each with rows of its own, by the same number of threads.
{
  const program = join(folder, 'read_loop');
  const source = fileURLToPath(new URL('read_loop.c', import.meta.url));
  execFileSync('gcc', ['-O2', '-pthread', '-o', program, source]);
  for (const used of [threads, 64]) {
    const perSecond = { table: [] as number[], loop: [] as number[] };
    const table = await emb.diskTable({ file, cacheBytes: 30e6, io: { threads: used } });
    let how = '';
    for (let round = 0; round < 7; round++) {
      const before = table.stats().misses;
      const taken = ms(() => {
        for (let part = 0; part < 4; part++) lookUp(table, drawn(rows, 8192));
      });
      perSecond.table.push(((table.stats().misses - before) / taken) * 1000);
      const args = [file, used, random.whole(0, 2 ** 30), 32_768, rows, 4096, 4 * dim].map(String);
      const [number, direct] = execFileSync(program, args).toString().trim().split(' ') as [string, string];
      perSecond.loop.push(Number(number));
      how = direct;
    }
    const [ours, loop] = [median(perSecond.table), median(perSecond.loop)];
    const direct = table.stats().direct;
    printLine({
      ...sizes,
      what: 'misses',
      threads: used,
      direct,
      how,
      rowsPerSecond: Math.round(ours),
      loop: Math.round(loop),
      ratio: ours / loop,
      otherCpu: load.ofOthers(),
    });
    table.close();
  }
}

// All rows in the cache, beside a table in memory of as many rows.
{
  const cached = 100_000;
  const table = await emb.diskTable({ file, cacheBytes: cached * 4 * dim, io: { threads } });
  const memory = tf.randomUniform([cached, dim]) as tf.Tensor2D;
  for (let first = 0; first < cached; first += 10_000) {
    lookUp(
      table,
      Int32Array.from({ length: 10_000 }, (_, i) => first + i),
    );
  }
  const before = table.stats().misses;
  const taken = { disk: [] as number[], memory: [] as number[] };
  for (let round = 0; round < 41; round++) {
    const ids = drawn(cached);
    taken.disk.push(ms(() => lookUp(table, ids)));
    taken.memory.push(ms(() => lookUp(memory, ids)));
  }
  const [disk, plain] = [median(taken.disk), median(taken.memory)];
  const misses = table.stats().misses - before;
  printLine({ ...sizes, what: 'all hits', ids: count, misses, diskMs: disk, memoryMs: plain, ratio: disk / plain });
  table.close();
  memory.dispose();
}

// Rows drawn by zipf 1.05; the rank of a row is its number times a prime.
{
  const sums = zipfSums(rows, 1.05);
  const rankOf = (): number => drawnRank(sums, random);
  const room = Math.floor(rows / 20);
  const table = await emb.diskTable({ file, cacheBytes: room * 4 * dim, io: { threads: 64 } });
  const [warm, measured] = [120, 40];
  let [best, start] = [0, 0];
  for (let round = 0; round < warm + measured; round++) {
    const ranks = Int32Array.from({ length: count }, rankOf);
    if (round === warm) start = table.stats().misses;
    lookUp(
      table,
      ranks.map((rank) => Number((BigInt(rank) * 7_919n) % BigInt(rows))),
    );
    // What stays for ever are the rows that are drawn most; each other row of a batch is read once.
    if (round >= warm) best += new Set(ranks.filter((rank) => rank >= room)).size;
  }
  const misses = table.stats().misses - start;
  const [ours, theirs] = [misses, best].map((missing) => 1 - missing / (measured * count)) as [number, number];
  printLine({
    ...sizes,
    what: 'hit rate, zipf 1.05',
    cache: '5 %',
    hitRate: ours,
    bestStatic: theirs,
    ratio: ours / theirs,
  });
  table.close();
}

// Steps whose reads fit into their compute: 512 new rows, and a product that takes longer than they do.
{
  const table = await emb.diskTable({ file, cacheBytes: 30e6, io: { threads } });
  const memory = tf.randomUniform([100_000, dim]) as tf.Tensor2D;
  const [a, b] = [tf.randomUniform([700, 700]), tf.randomUniform([700, 700])];
  const compute = (): void => {
    const product = tf.matMul(a, b);
    product.dataSync();
    product.dispose();
  };
  const taken = { disk: [] as number[], memory: [] as number[], bare: [] as number[] };
  let next = drawn(rows, 512);
  table.prefetch(next);
  for (let round = 0; round < 41; round++) {
    const now = next;
    next = drawn(rows, 512);
    taken.disk.push(
      ms(() => {
        table.prefetch(next);
        lookUp(table, now);
        compute();
      }),
    );
    const ids = drawn(100_000, 512);
    taken.memory.push(
      ms(() => {
        lookUp(memory, ids);
        compute();
      }),
    );
    const cold = drawn(rows, 512);
    taken.bare.push(ms(() => lookUp(table, cold)));
  }
  const [disk, plain, readMs] = [median(taken.disk), median(taken.memory), median(taken.bare)];
  printLine({
    ...sizes,
    what: 'step with prefetch',
    ids: 512,
    diskMs: disk,
    memoryMs: plain,
    ratio: disk / plain,
    readMs,
  });
  table.close();
}
