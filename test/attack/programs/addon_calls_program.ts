/**
 * Calls every function of the addon with arbitrary values, in a process of its own.
 *   node --import tsx test/attack/addon_calls_program.ts <seed> [calls] [path of the addon]
 * Half of the calls are made of anything; half are right but for a few arguments, so that they come far. Nothing may
 * change but what a function writes, and nothing at all where that shares memory with another argument: such a call
 * must be refused. Prints a JSON line at the end.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { wordsPerRow } from '../../../src/backends/packed/packed_table.js';
import { PACKED_STORAGES } from '../../../src/types.js';
import { Random } from '../../helpers/random.js';
import { HostileArrays } from '../hostile/arrays.js';
import { WatchedMemory } from '../watched_memory.js';

const random = new Random(Number(process.argv[2] ?? 1));
const calls = Number(process.argv[3] ?? 20_000);
const addon = loadAddon(process.argv[4]) as unknown as Record<string, (...args: unknown[]) => unknown>;
const names = Object.keys(addon).filter((name) => name !== 'registerTensorFlow');
const kernels = [
  'embeddingBag',
  'embeddingBagGrad',
  'embeddingBagWeightsGrad',
  'packedBag',
  'packedBagWeightsGrad',
  'sparseApply',
  'embeddingBags',
  'sparseApplyMany',
  'matMul',
  'partitionCsr',
  'extendCrc32c',
  'exchangeFolders',
];
/** A folder of its own: nothing else may come to be exchanged. */
const scratch = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-addon-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const paths = ['a', 'b', 'nothing', 'x'.repeat(300), 'ä\u{1f600}', 'a\0b'].map((name) => join(scratch, name));
for (const path of paths.slice(0, 2)) mkdirSync(path);
const arrays = new HostileArrays(random);

const NUMBERS = [
  0,
  1,
  2,
  3,
  -1,
  0.5,
  NaN,
  Infinity,
  -Infinity,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53,
  2 ** 62,
  1e308,
  64,
];

const ANYTHING: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => random.chance(0.5),
  () => random.pick(NUMBERS),
  () => random.pick(NUMBERS),
  () => random.pick(NUMBERS),
  () => random.whole(-5, 70),
  () => BigInt(random.whole(-9, 9)),
  () => random.pick(['', 'sum', '1', '\0', '😀'.repeat(40)]),
  () => Symbol('s'),
  () => ({ length: 4, valueOf: () => 1 }),
  () => () => 1,
  () => [1, 2, 3],
  () => arrays.floats(random.whole(0, 30)),
  () => arrays.ints(Array.from({ length: random.whole(0, 30) }, () => random.whole(-3, 10))),
  () => arrays.ints([0, 2, 4]),
  () => new Float64Array(4),
  () => new DataView(new ArrayBuffer(16)),
  () => arrays.detached(),
  () => arrays.resized(),
  () => new Proxy(new Float32Array(4), {}),
  () => Object.create(Float32Array.prototype) as unknown,
  () => new ArrayBuffer(16),
];

const anything = (): unknown => random.pick(ANYTHING)();

/** A right call of a kernel, small. */
function rightCall(name: string): unknown[] {
  const [rows, dim, batch] = [random.whole(1, 9), random.pick([1, 2, 3, 5, 16, 17, 40, 130]), random.whole(0, 6)];
  const splits = [0];
  for (let b = 0; b < batch; b++) splits.push(splits[b]! + random.whole(0, 5));
  const nnz = splits[batch]!;
  const id = (): number => (random.chance(0.03) ? random.pick([-1, rows, 2 ** 31 - 1]) : random.whole(0, rows));
  const values = arrays.ints(Array.from({ length: nnz }, id));
  const weights = random.chance(0.5) ? arrays.floats(nnz) : null;
  const how = [random.whole(0, 3), random.whole(0, 2), random.chance(0.3) ? 0.5 : 0];
  const bags = [values, arrays.ints(splits), weights, ...how];
  const table = [arrays.floats(rows * dim), rows, dim];
  const gradient = arrays.floats(batch * dim);
  switch (name) {
    case 'embeddingBag':
      return [...table, ...bags, arrays.floats(batch * dim)];
    case 'embeddingBagGrad':
      return [gradient, ...table, ...bags];
    case 'embeddingBagWeightsGrad':
      bags[2] = arrays.floats(nnz);
      return [...table, ...bags, gradient, arrays.floats(nnz)];
    case 'packedBag':
      return [...packedTable(rows, dim), ...bags, arrays.floats(batch * dim)];
    case 'packedBagWeightsGrad':
      bags[2] = arrays.floats(nnz);
      return [...packedTable(rows, dim), ...bags, gradient, arrays.floats(nnz)];
    case 'sparseApply': {
      const optimizer = random.whole(0, 6);
      const slot = arrays.floats(optimizer === 2 ? rows : rows * dim);
      const slots = [optimizer === 0 ? null : slot, optimizer < 3 ? null : arrays.floats(rows * dim)];
      const starts = Array.from({ length: random.whole(0, 4) }, () => random.whole(0, batch + 1)).sort((a, b) => a - b);
      const uses = random.chance(0.5) ? [arrays.ints(starts)] : [];
      return [...table, ...bags, optimizer, ...slots, gradient, arrays.floats(30), ...uses];
    }
    case 'embeddingBags':
      return [manyCalls('embeddingBag')];
    case 'sparseApplyMany':
      return [manyCalls('sparseApply')];
    case 'matMul':
      return productCall();
    case 'partitionCsr':
      return csrCall();
    case 'extendCrc32c': {
      const bytes = new Uint8Array(random.pick([table[0] as Float32Array, gradient]).buffer as ArrayBuffer);
      const from = random.whole(0, bytes.length + 1);
      return [random.pick([0, 1, 2 ** 31, 2 ** 32 - 1, random.whole(0, 2 ** 30)]), bytes.subarray(from)];
    }
    case 'exchangeFolders':
      return [random.pick(paths), random.pick(paths)];
    case 'readSharedTensor':
    case 'writeSharedTensor':
      return [random.whole(0, 4), 0, dim, rows, dim, table[0]];
    default:
      return [random.whole(-2, 70)];
  }
}

/** Calls of one function, most of them right and of one optimizer. */
function manyCalls(name: string): unknown[] {
  const calls = Array.from({ length: random.whole(0, 4) }, () => rightCall(name));
  const optimizer = calls[0]?.[9];
  const alike = name === 'embeddingBag' ? calls : calls.filter((each) => each[9] === optimizer || random.chance(0.1));
  for (const each of alike) {
    if (random.chance(0.15)) spoil(each);
    // Ids of a table may be those of another, as those of features often are.
    if (random.chance(0.2)) [each[3], each[4], each[5]] = [alike[0]![3], alike[0]![4], alike[0]![5]];
  }
  if (random.chance(0.05)) spoil(alike);
  return alike;
}

/** Two matrices, or batches of them. */
function productCall(): unknown[] {
  const [m, n, k] = [random.whole(0, 9), random.whole(0, 40), random.whole(0, 9)];
  const batch = random.whole(0, 4);
  const [batchA, batchB] = [random.pick([1, batch]), random.pick([1, batch])];
  const bias = random.chance(0.5) ? arrays.floats(n) : null;
  const factors = [arrays.floats(batchA * m * k), arrays.floats(batchB * k * n), bias, arrays.floats(batch * m * n)];
  return [...factors, batch, batchA, batchB, m, n, k, random.whole(0, 2), random.whole(0, 2), random.whole(0, 2)];
}

/** Arrays of a list of calls go away while the addon walks through the list. */
function setTrap(list: unknown): void {
  if (!Array.isArray(list) || list.length === 0) return;
  const [at, inner] = [random.whole(0, list.length), random.pick(list)];
  const whole = list[at] as unknown;
  Object.defineProperty(list, at, {
    get() {
      for (const each of Array.isArray(inner) ? inner : []) {
        const { buffer } = ArrayBuffer.isView(each) ? each : { buffer: null };
        if (buffer instanceof ArrayBuffer && random.chance(0.5)) transfer(buffer);
      }
      return whole;
    },
  });
}

/** Memory of WebAssembly stays where it is. */
function transfer(buffer: ArrayBuffer): void {
  try {
    structuredClone(buffer, { transfer: [buffer] });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** Words of any bits, as float16 or int8. */
function packedTable(rows: number, dim: number): unknown[] {
  const storage = random.whole(0, 2);
  const count = rows * wordsPerRow(PACKED_STORAGES[storage]!, dim);
  return [arrays.ints(Array.from({ length: count }, () => random.whole(-(2 ** 31), 2 ** 31))), storage, rows, dim];
}

/** Ids of one or two features on one or two tables. */
function csrCall(): unknown[] {
  const [cores, shards] = [random.whole(1, 4), 2 ** random.whole(0, 5)];
  const features: number[] = [];
  const [values, splits, weights]: [unknown[], unknown[], unknown[]] = [[], [], []];
  let [nnz, samples, offset] = [0, 0, 0];
  for (let count = random.whole(0, 3); count > 0; count--) {
    const own = cores * random.whole(0, 3);
    const ends = [0];
    for (let sample = 0; sample < own; sample++) ends.push(ends[sample]! + random.whole(0, 5));
    const ids = Array.from({ length: ends[own]! }, () => random.whole(0, random.chance(0.03) ? 12 : 9));
    values.push(arrays.ints(ids));
    splits.push(arrays.ints(ends));
    weights.push(random.chance(0.5) ? arrays.floats(ids.length) : null);
    nnz += ids.length;
    features.push(own, random.whole(0, 3), 9, offset, random.whole(0, shards), samples);
    samples += own;
    offset += Math.ceil(9 / shards) * shards;
  }
  const most = Math.ceil((nnz + 7 * cores * shards) / 8) * 8;
  const capacity = random.chance(0.5) ? most : 8 * random.whole(0, 9);
  const slots = Math.min(most, capacity);
  const ints = (length: number): Int32Array => arrays.ints(new Array<number>(length).fill(0)) as Int32Array;
  // A list is now and then as hostile as any other argument.
  for (const list of [values, splits, weights]) if (random.chance(0.1)) spoil(list);
  const room = [ints(cores * Math.ceil(shards / 8) * 8), ints(slots), ints(slots), arrays.floats(slots)];
  const counts = [ints(cores * shards), ints(cores * shards)];
  return [values, splits, weights, arrays.ints(features), cores, shards, samples, capacity, ...room, ...counts];
}

const isNumbers = (value: unknown): value is Float32Array | Int32Array =>
  (value instanceof Float32Array || value instanceof Int32Array) && ArrayBuffer.isView(value);

/** The numbers of an array moved to the memory of another, or beside it; null where they do not fit there. */
function moved(mine: Float32Array | Int32Array, other: ArrayBufferView): Float32Array | Int32Array | null {
  const at = other.byteOffset + 4 * random.whole(-2, 3);
  if (other.buffer.byteLength === 0 || at % 4 !== 0 || at < 0 || at + mine.byteLength > other.buffer.byteLength)
    return null;
  const Type = mine instanceof Float32Array ? Float32Array : Int32Array;
  const view = new Type(other.buffer as ArrayBuffer, at, mine.length);
  if (mine.byteLength > 0) view.set(mine.slice());
  return view;
}

/** Replaces some arguments; two of them may come to share memory. */
function spoil(args: unknown[]): void {
  for (let times = random.whole(0, 3); times > 0 && args.length > 0; times--) {
    const i = random.whole(0, args.length);
    const [mine, other] = [args[i], random.pick(args)];
    if (isNumbers(mine) && ArrayBuffer.isView(other) && random.chance(0.5)) {
      args[i] = moved(mine, other) ?? mine;
    } else if (mine instanceof Int32Array && isNumbers(mine) && random.chance(0.6)) {
      if (mine.length > 0) mine[random.whole(0, mine.length)] = random.pick([-1, 0, 3, 1e6, -(2 ** 31), 2 ** 31 - 1]);
    } else {
      args[i] = anything();
    }
  }
  if (random.chance(0.05)) args.length = random.whole(0, args.length + 1);
  if (random.chance(0.05)) args.push(anything());
}

const counts = { calls: 0, returned: 0, threw: 0, shared: 0 };

/** Makes a call; what is wrong with it, or null. */
function attempt(): string | null {
  const isWild = random.chance(0.5);
  const name = isWild || random.chance(0.2) ? random.pick(names) : random.pick(kernels);
  const args = isWild ? Array.from({ length: random.whole(0, 16) }, anything) : rightCall(name);
  if (!isWild) spoil(args);
  const memory = new WatchedMemory(name, args);
  if (random.chance(0.2)) setTrap(args[0]);
  let hasThrown = false;
  try {
    addon[name]!(...args);
  } catch (error) {
    if (!(error instanceof Error)) return `${name} threw ${String(error)}`;
    hasThrown = true;
  }
  counts.calls++;
  if (hasThrown) counts.threw++;
  else counts.returned++;
  if (memory.isShared) counts.shared++;
  const fault = memory.fault(hasThrown);
  return fault === null ? null : `call ${counts.calls}: ${name} ${fault}`;
}

const fallen: string[] = [];
// What has gone wrong once may spoil all that follows.
while (counts.calls < calls && fallen.length === 0) {
  const fault = attempt();
  if (fault !== null) fallen.push(fault);
}
console.log(JSON.stringify({ ...counts, fallen }));
