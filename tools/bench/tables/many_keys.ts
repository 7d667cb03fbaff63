/**
 * Memory and time of an open table with so many keys, of 16 columns, stepped by row-wise Adagrad on `cpu`: keys get rows
 * in steps of 100,000, then all are looked for, and each must have a row of its own. Prints a JSON line for each tenth.
 *   node --expose-gc --import tsx tools/bench/tables/many_keys.ts [keys, default 100000000]
 */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../../../test/helpers/random.js';
import { median, printLine } from '../stopwatch.js';

const keys = Number(process.argv[2] ?? 1e8);
const [dim, batch] = [16, 100_000];
const emb = await import('../../../src/node.js');
await tf.setBackend('cpu');

// Shards have more or fewer keys than one in 256: room for six standard deviations.
const capacity = Math.ceil(keys + 256 * 6 * Math.sqrt(keys / 256));
const open = emb.openTable({ outputDim: dim, capacity, seed: 1, evict: null });
const optimizer = emb.train.rowWiseAdagrad({ learningRate: 0.1 });
const words = new Int32Array(2 * batch);

/** Keys of 64 bits, another for each number. */
function keysFrom(numberOf: (i: number) => number, count: number): BigInt64Array {
  for (let i = 0; i < count; i++) {
    const number = numberOf(i);
    words[2 * i] = Math.imul(number, 0x9e3779b1);
    words[2 * i + 1] = Math.imul(number, 0x85ebca6b);
  }
  return new BigInt64Array(words.buffer, 0, count);
}

function step(ids: BigInt64Array): void {
  optimizer.minimize(() => (emb.embeddingLookup(open, ids) as tf.Tensor).square().mean<tf.Scalar>());
}

function told(what: string, done: number, ms: readonly number[]): void {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  printLine({
    ...{ bench: 'many keys', what, keys: done, capacity, dim, size: open.size() },
    ...{ rssGb: rss / 1e9, heapMb: heapUsed / 2 ** 20, usPerKey: (median(ms) * 1000) / batch },
  });
}

/** Goes over all keys, a batch after the other, and tells of each tenth. */
function overAll(what: string, run: (ids: BigInt64Array) => void): void {
  const batches = Math.ceil(keys / batch);
  let taken: number[] = [];
  for (let at = 0; at < batches; at++) {
    const first = at * batch;
    const ids = keysFrom((i) => first + i, Math.min(batch, keys - first));
    const from = performance.now();
    run(ids);
    taken.push(performance.now() - from);
    if ((at + 1) % Math.ceil(batches / 10) !== 0 && at + 1 < batches) continue;
    told(what, Math.min(keys, first + batch), taken);
    taken = [];
  }
}

told('empty', 0, [0]);
overAll('new keys', step);

const random = new Random(1);
const steps = Array.from({ length: 21 }, () => {
  const ids = keysFrom(() => random.whole(0, keys), batch);
  const from = performance.now();
  step(ids);
  return performance.now() - from;
});
told('steps of uniform keys', keys, steps);

const isTaken = new Uint8Array(capacity);
let [missing, shared] = [0, 0];
overAll('every key looked for', (ids) => {
  for (const row of open.rowsOf({ words, layout: { kind: 'dense', shape: [ids.length] }, texts: null }, false)[0]!) {
    if (row >= capacity) missing += 1;
    else shared += isTaken[row]!++;
  }
});
printLine({ bench: 'many keys', what: 'rows', keys, size: open.size(), missing, shared });
if (missing + shared > 0) process.exitCode = 1;
