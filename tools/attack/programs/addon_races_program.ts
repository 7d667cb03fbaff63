/**
 * Calls the kernels of the addon while another thread writes into the memory of ids, splits, uses and weights, and into
 * the results of what sorts ids.
 *   node --import tsx tools/attack/addon_races_program.ts <seed> [calls] [path of the addon]
 * Whatever a kernel finds there, nothing outside its results may change. Prints a JSON line at the end.
 */
import { Worker } from 'node:worker_threads';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { CODECS } from '../../../src/codecs/codecs.js';
import { HYPER_FIELDS } from '../../../src/rules/hyper.js';
import { Random } from '../../../test/helpers/random.js';
import { WatchedMemory } from '../watched_memory.js';

const seed = Number(process.argv[2] ?? 1);
const random = new Random(seed);
const calls = Number(process.argv[3] ?? 10_000);
const addon = loadAddon(process.argv[4]) as unknown as Record<string, (...args: unknown[]) => unknown>;

const MOST = 4096;
const [VALUES, SPLITS, STARTS, WEIGHTS] = [0, MOST, 2 * MOST, 3 * MOST];
/** Then: how many ids and bags the current call has, the rows of its table, and the words of its results. */
const SIZES = 4 * MOST;
/** Results of a call that lie in the memory that is raced. */
const RESULTS = SIZES + 4;
const MOST_RESULTS = 8 * MOST;
const words = new Int32Array(new SharedArrayBuffer(4 * (RESULTS + MOST_RESULTS)));
const floats = new Float32Array(words.buffer);

/** Puts a wrong number somewhere, then a right one again, so that a call may meet either before and after it has checked. */
const RACER = `
  const { workerData: { words, SIZES, RESULTS, parts } } = require('node:worker_threads');
  const [VALUES, SPLITS, STARTS] = parts;
  let state = ${seed};
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
  for (;;) {
    const [nnz, bags, rows, results] = words.subarray(SIZES, RESULTS);
    const wild = [-1, 2 ** 30, -(2 ** 31), nnz + 1][(next() >>> 8) % 4];
    const [id, bag, use] = [(next() >>> 8) % (nnz || 1), (next() >>> 8) % (bags + 1), (next() >>> 8) % 4];
    words[VALUES + id] = wild;
    words[VALUES + id] = (next() >>> 8) % (rows || 1);
    words[SPLITS + bag] = wild;
    words[SPLITS + bag] = Math.floor((nnz * bag) / (bags || 1));
    words[STARTS + use] = wild;
    words[STARTS + use] = Math.floor((bags * use) / 4);
    for (let time = 0; time < 16 && results > 0; time++) words[RESULTS + ((next() >>> 8) % results)] = wild;
  }`;
const racer = new Worker(RACER, { eval: true, workerData: { words, SIZES, RESULTS, parts: [VALUES, SPLITS, STARTS] } });
racer.on('error', (error) => {
  throw error;
});

const NAMES = [
  'embeddingBag',
  'embeddingBagGrad',
  'embeddingBagWeightsGrad',
  'sparseApply',
  'embeddingBags',
  'sparseApplyMany',
  'partitionCsr',
];

const [FLOAT32, FLOAT16, INT8] = [0, 1, 2];
/** The codecs that a function takes, where there are others than float32. */
const CODECS_OF: Readonly<Record<string, readonly number[]>> = {
  embeddingBag: [FLOAT32, FLOAT16, INT8],
  embeddingBagWeightsGrad: [FLOAT32, FLOAT16, INT8],
  sparseApply: [FLOAT32, FLOAT16],
};

/** A right call, large enough to be overtaken. */
function racedCall(name = random.pick(NAMES)): { name: string; args: unknown[] } {
  if (name === 'partitionCsr') return { name, args: racedCsr() };
  if (name === 'embeddingBags') return { name, args: [[racedCall('embeddingBag').args]] };
  if (name === 'sparseApplyMany') return { name, args: [[racedCall('sparseApply').args]] };
  const [rows, dim, bags] = [random.whole(1, 500), random.pick([1, 3, 16, 33]), random.whole(1, 200)];
  const nnz = random.whole(0, 3000);
  words.set([nnz, bags, rows, 0], SIZES);
  for (let i = 0; i < nnz; i++) words[VALUES + i] = random.whole(0, rows);
  for (let b = 0; b <= bags; b++) words[SPLITS + b] = Math.floor((nnz * b) / bags);
  for (let i = 0; i < 4; i++) words[STARTS + i] = Math.floor((bags * i) / 4);
  floats.fill(1, WEIGHTS, WEIGHTS + nnz);
  const codec = random.pick(CODECS_OF[name] ?? [FLOAT32]);
  const count = rows * CODECS[codec]!.words(dim);
  const numbers = codec === FLOAT32 ? new Float32Array(count).fill(1) : new Int32Array(count).fill(0x3c003c00);
  const table = [numbers, codec, rows, dim];
  const weights = random.chance(0.5) ? floats.subarray(WEIGHTS, WEIGHTS + nnz) : null;
  const ids = [words.subarray(VALUES, VALUES + nnz), words.subarray(SPLITS, SPLITS + bags + 1)];
  const how = [random.whole(0, 3), random.whole(0, 2), random.chance(0.2) ? 0.5 : 0];
  const gradient = new Float32Array(bags * dim).fill(1);
  if (name === 'embeddingBag') return { name, args: [...table, ...ids, weights, ...how, new Float32Array(bags * dim)] };
  if (name === 'embeddingBagGrad') return { name, args: [gradient, ...table, ...ids, weights, ...how] };
  if (name === 'embeddingBagWeightsGrad') {
    const some = floats.subarray(WEIGHTS, WEIGHTS + nnz);
    return { name, args: [...table, ...ids, some, ...how, gradient, new Float32Array(nnz)] };
  }
  const uses = random.chance(0.5) ? words.subarray(STARTS, STARTS + 4) : null;
  const hyper = new Float32Array(HYPER_FIELDS.length).fill(codec === FLOAT32 ? 0.5 : 0);
  return { name, args: [...table, ...ids, weights, ...how, 0, null, null, null, null, gradient, hyper, uses] };
}

/** Ids of one feature for SparseCores, with all that is written in the memory that is raced. */
function racedCsr(): unknown[] {
  const [cores, shards, rows] = [random.pick([1, 2, 4]), 2 ** random.whole(0, 5), random.whole(1, 500)];
  const [samples, nnz] = [cores * random.whole(1, 50), random.whole(0, 3000)];
  words.set([nnz, samples, rows, 0], SIZES);
  for (let i = 0; i < nnz; i++) words[VALUES + i] = random.whole(0, rows);
  for (let s = 0; s <= samples; s++) words[SPLITS + s] = Math.floor((nnz * s) / samples);
  floats.fill(1, WEIGHTS, WEIGHTS + nnz);
  const weights = random.chance(0.3) ? floats.subarray(WEIGHTS, WEIGHTS + nnz) : null;
  const ids = [[words.subarray(VALUES, VALUES + nnz)], [words.subarray(SPLITS, SPLITS + samples + 1)], [weights]];
  const slots = Math.ceil((nnz + 7 * cores * shards) / 8) * 8;
  let at = RESULTS;
  const taken = (memory: Int32Array | Float32Array, length: number): unknown => memory.subarray(at, (at += length));
  const room = [taken(words, cores * Math.ceil(shards / 8) * 8), taken(words, slots), taken(words, slots)];
  const rest = [taken(floats, slots), taken(words, cores * shards), taken(words, cores * shards)];
  words[SIZES + 3] = at - RESULTS;
  const feature = Int32Array.of(samples, random.whole(0, 3), rows, 0, 0, 0);
  return [...ids, feature, cores, shards, samples, slots, ...room, ...rest];
}

const counts = { calls: 0, returned: 0, threw: 0 };
const fallen: string[] = [];
const raced = new Set([words.buffer]);
while (counts.calls < calls && fallen.length === 0) {
  const { name, args } = racedCall();
  const memory = new WatchedMemory(name, args, raced);
  let hasThrown = false;
  try {
    addon[name]!(...args);
    counts.returned++;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    hasThrown = true;
    counts.threw++;
  }
  counts.calls++;
  const fault = memory.fault(hasThrown);
  if (fault !== null) fallen.push(`call ${counts.calls}: ${name} ${fault}`);
}
await racer.terminate();
console.log(JSON.stringify({ ...counts, fallen }));
