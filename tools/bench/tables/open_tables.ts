/**
 * Open tables beside tables of row numbers: a lookup of 40,960 uniform keys with its Adagrad step, the same by
 * `emb.capture`, a lookup alone, and steps of which a quarter of the keys is new, so that others go. All take turns;
 * medians of the time by the clock and of that of processors, which other programs change less. Prints JSON lines.
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
// Not zeros: all pages that nothing was written to are one.
const plain = tf.variable(tf.ones([capacity, dim]));
const [ofOpen, ofPlain] = [emb.train.adagrad({ learningRate: 0.1 }), emb.train.adagrad({ learningRate: 0.1 })];
const keyOf = (n: number): bigint => BigInt(n) * 0x9e37_79b9n;

function openStep(keys: BigInt64Array): void {
  ofOpen.minimize(() => (emb.embeddingLookup(open, keys) as tf.Tensor).sum());
}

function plainStep(ids: Int32Array): void {
  ofPlain.minimize(() => emb.embeddingLookup(plain, ids).sum());
}

const openCaptured = emb.capture(openStep);
const plainCaptured = emb.capture((ids: tf.Tensor1D): void => {
  ofPlain.minimize(() => emb.embeddingLookup(plain, ids).sum());
});

function gather(ids: Int32Array): void {
  tf.dispose(emb.embeddingLookup(plain, ids));
}

interface Spent {
  readonly wall: number;
  readonly cpu: number;
}

/** Milliseconds of a call. */
function ms(run: () => void): Spent {
  const [from, used] = [performance.now(), process.cpuUsage()];
  run();
  const wall = performance.now() - from;
  const { user, system } = process.cpuUsage(used);
  return { wall, cpu: (user + system) / 1000 };
}

for (let first = 0; first < rows; first += count) {
  openStep(BigInt64Array.from({ length: Math.min(count, rows - first) }, (_, i) => keyOf(first + i)));
}
const load = new Load();
const taken = new Map<string, Spent[]>();
const drawn = (): Int32Array => Int32Array.from({ length: count }, () => random.whole(0, rows));
/** Each with ids of its own: what a step read before would lie in the cache. */
const runs: [string, (ids: Int32Array, keys: BigInt64Array) => void][] = [
  ['open', (_ids, keys) => openStep(keys)],
  ['plain', (ids) => plainStep(ids)],
  ['openCaptured', (_ids, keys) => openCaptured(keys)],
  ['plainCaptured', (ids) => tf.tidy(() => plainCaptured(tf.tensor1d(ids, 'int32')))],
  ['find', (_ids, keys) => tf.dispose(emb.embeddingLookup(open, keys) as tf.Tensor)],
  ['gather', gather],
];
for (let round = -5; round < rounds; round++) {
  for (let turn = 0; turn < runs.length; turn += 2) {
    // The first of two finds the cache as the steps before left it: they take turns in that too.
    const pair = runs.slice(turn, turn + 2).map(([name, run]) => ({ name, run, ids: drawn() }));
    const both = pair.map((one) => ({ ...one, keys: BigInt64Array.from(one.ids, keyOf) }));
    if (round % 2 !== 0) both.reverse();
    gather(drawn());
    for (const { name, run, ids, keys } of both) {
      const value = ms(() => run(ids, keys));
      if (round >= 0) taken.set(name, [...(taken.get(name) ?? []), value]);
    }
  }
}
const sizes = { bench: 'open tables', backend, rows, dim, keys: count };

function compare(what: string, ours: string, theirs: string): void {
  const of = (name: string, kind: keyof Spent): number => median(taken.get(name)!.map((spent) => spent[kind]));
  const [openMs, plainMs] = [of(ours, 'wall'), of(theirs, 'wall')];
  const cpuRatio = of(ours, 'cpu') / of(theirs, 'cpu');
  printLine({ ...sizes, what, openMs, plainMs, ratio: openMs / plainMs, cpuRatio, otherCpu: load.ofOthers() });
}

compare('step', 'open', 'plain');
if (openCaptured.info.captured) compare('captured step', 'openCaptured', 'plainCaptured');
compare('lookup', 'find', 'gather');

// Until the table is full, then with keys that go.
let next = rows;
const fresh: Spent[] = [];
let isFull = false;
while (fresh.length < rounds) {
  isFull ||= open.stats().evicted > 0;
  const keys = BigInt64Array.from({ length: count }, (_, i) => keyOf(i % 4 === 0 ? next++ : random.whole(0, rows)));
  const taking = ms(() => openStep(keys));
  if (isFull) fresh.push(taking);
}
const still = median(taken.get('open')!.map(({ cpu }) => cpu));
const [walls, cpus] = [fresh.map(({ wall }) => wall), fresh.map(({ cpu }) => cpu)];
const worst = Math.max(...cpus) / median(cpus);
printLine({ ...sizes, what: 'step, a quarter new', openMs: median(walls), cpuRatio: median(cpus) / still, worst });
