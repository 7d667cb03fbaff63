/**
 * Open tables beside tables of row numbers: a lookup of 40,960 uniform keys with its Adagrad step, a lookup alone, and
 * steps of which a quarter of the keys is new, so that others go. Both take turns; medians. Prints JSON lines.
 *   node --import tsx tools/bench/tables/open_tables.ts [cpu | tensorflow] [rows] [columns]
 */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../../../test/helpers/random.js';
import { Load, median, printLine } from '../stopwatch.js';

const [backend = 'cpu', rowsText = '1000000', dimText = '64'] = process.argv.slice(2);
const [rows, dim, count, rounds] = [Number(rowsText), Number(dimText), 40_960, 21];
if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
const emb = await import('../../../src/node.js');
await tf.setBackend(backend);

const random = new Random(1);
// Some rows more than keys, as no shard is full then.
const capacity = Math.ceil(rows * 1.1);
const open = emb.openTable({ outputDim: dim, capacity, seed: 1 });
const plain = tf.variable(tf.zeros([capacity, dim]));
const [ofOpen, ofPlain] = [emb.train.adagrad({ learningRate: 0.1 }), emb.train.adagrad({ learningRate: 0.1 })];
const keyOf = (n: number): bigint => BigInt(n) * 0x9e37_79b9n;

function openStep(keys: BigInt64Array): void {
  ofOpen.minimize(() => (emb.embeddingLookup(open, keys) as tf.Tensor).sum());
}

function plainStep(ids: Int32Array): void {
  ofPlain.minimize(() => emb.embeddingLookup(plain, ids).sum());
}

/** Milliseconds of a call. */
function ms(run: () => void): number {
  const from = performance.now();
  run();
  return performance.now() - from;
}

for (let first = 0; first < rows; first += count) {
  openStep(BigInt64Array.from({ length: Math.min(count, rows - first) }, (_, i) => keyOf(first + i)));
}
const load = new Load();
const taken = { open: [] as number[], plain: [] as number[], find: [] as number[], gather: [] as number[] };
for (let round = -3; round < rounds; round++) {
  const ids = Int32Array.from({ length: count }, () => random.whole(0, rows));
  const keys = BigInt64Array.from(ids, keyOf);
  const measured = {
    open: ms(() => openStep(keys)),
    plain: ms(() => plainStep(ids)),
    find: ms(() => tf.dispose(emb.embeddingLookup(open, keys) as tf.Tensor)),
    gather: ms(() => tf.dispose(emb.embeddingLookup(plain, ids))),
  };
  if (round < 0) continue;
  for (const [name, value] of Object.entries(measured)) taken[name as keyof typeof taken].push(value);
}
const [step, still, find, gather] = [taken.open, taken.plain, taken.find, taken.gather].map(median) as [
  number,
  number,
  number,
  number,
];
const sizes = { bench: 'open tables', backend, rows, dim, keys: count };
printLine({ ...sizes, what: 'step', openMs: step, plainMs: still, ratio: step / still, otherCpu: load.ofOthers() });
printLine({ ...sizes, what: 'lookup', openMs: find, plainMs: gather, ratio: find / gather });

// Until the table is full, then with keys that go.
let next = rows;
const fresh: number[] = [];
while (fresh.length < rounds) {
  const isFull = open.stats().evicted > 0;
  const keys = BigInt64Array.from({ length: count }, (_, i) => keyOf(i % 4 === 0 ? next++ : random.whole(0, rows)));
  const taking = ms(() => openStep(keys));
  if (isFull) fresh.push(taking);
}
printLine({ ...sizes, what: 'step, a quarter new', openMs: median(fresh), worst: Math.max(...fresh) / median(fresh) });
