/**
 * Calls every function of the addon with arbitrary values, in a process of its own.
 *   node --import tsx test/attack/addon_calls_program.ts <seed> <calls>
 * Half of the calls are made of anything; half are right but for a few arguments, so that they come far. Memory around
 * each array is marked, and must stay as it was. Prints a JSON line at the end.
 */
import { loadAddon } from '../../src/backends/native/addon.js';
import { Random } from '../helpers/random.js';

const random = new Random(Number(process.argv[2] ?? 1));
const calls = Number(process.argv[3] ?? 100_000);
const addon = loadAddon() as unknown as Record<string, (...args: unknown[]) => unknown>;
const names = Object.keys(addon).filter((name) => name !== 'registerTensorFlow');

const MARK = 0xa5;
const MARGIN = 64;
const wasmMemory = new WebAssembly.Memory({ initial: 4 });
const sharedMemory = new WebAssembly.Memory({ initial: 4, maximum: 4, shared: true });

/** Arrays handed out in the current call, with the memory around them. */
let guards: { bytes: Uint8Array; from: number; to: number }[] = [];

/** Room for `bytes` bytes in memory of a random kind, marked all around. */
function room(bytes: number): { buffer: ArrayBufferLike; offset: number } {
  const offset = MARGIN + 4 * random.whole(0, 4);
  const whole = offset + bytes + MARGIN;
  const kind = random.whole(0, 8);
  let buffer: ArrayBufferLike;
  if (kind === 0) buffer = new SharedArrayBuffer(whole);
  else if (kind === 1 && whole <= wasmMemory.buffer.byteLength) buffer = wasmMemory.buffer;
  else if (kind === 2 && whole <= sharedMemory.buffer.byteLength) buffer = sharedMemory.buffer;
  else buffer = new ArrayBuffer(whole);
  const marked = new Uint8Array(buffer, 0, whole);
  // Memory that several arrays of one call share cannot be watched.
  if (kind !== 1 && kind !== 2) {
    marked.fill(MARK);
    guards.push({ bytes: marked, from: offset, to: offset + bytes });
  }
  return { buffer, offset };
}

function floats(length: number): Float32Array {
  const { buffer, offset } = room(length * 4);
  const array = new Float32Array(buffer, offset, length);
  for (let i = 0; i < length; i++)
    array[i] = random.chance(0.05) ? random.pick([NaN, Infinity, -0, 1e38]) : random.next();
  return array;
}

function ints(values: ArrayLike<number>): Int32Array {
  const { buffer, offset } = room(values.length * 4);
  const array = new Int32Array(buffer, offset, values.length);
  array.set(values);
  return array;
}

function detached(): Float32Array {
  const array = new Float32Array(8);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

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

/** Anything at all. */
function anything(): unknown {
  switch (random.whole(0, 22)) {
    case 0:
      return undefined;
    case 1:
      return null;
    case 2:
      return random.chance(0.5);
    case 3:
    case 4:
    case 5:
      return random.pick(NUMBERS);
    case 6:
      return random.whole(-5, 70);
    case 7:
      return BigInt(random.whole(-9, 9));
    case 8:
      return random.pick(['', 'sum', '1', '\0', '😀'.repeat(40)]);
    case 9:
      return Symbol('s');
    case 10:
      return { length: 4, valueOf: () => 1 };
    case 11:
      return () => 1;
    case 12:
      return [1, 2, 3];
    case 13:
      return floats(random.whole(0, 30));
    case 14:
      return ints(Array.from({ length: random.whole(0, 30) }, () => random.whole(-3, 10)));
    case 15:
      return ints([0, 2, 4]);
    case 16:
      return new Float64Array(4);
    case 17:
      return new DataView(new ArrayBuffer(16));
    case 18:
      return detached();
    case 19:
      return new Proxy(new Float32Array(4), {});
    case 20:
      return Object.create(Float32Array.prototype);
    default:
      return new ArrayBuffer(16);
  }
}

/** A right call of a kernel, small. */
function rightCall(name: string): unknown[] {
  const [rows, dim, batch] = [random.whole(1, 9), random.pick([1, 2, 3, 5, 16, 17, 40, 130]), random.whole(0, 6)];
  const splits = [0];
  for (let b = 0; b < batch; b++) splits.push(splits[b]! + random.whole(0, 5));
  const nnz = splits[batch]!;
  const values = ints(
    Array.from({ length: nnz }, () =>
      random.chance(0.03) ? random.pick([-1, rows, 2 ** 31 - 1]) : random.whole(0, rows),
    ),
  );
  const weights = random.chance(0.5) ? floats(nnz) : null;
  const bags = [values, ints(splits), weights, random.whole(0, 3), random.whole(0, 2), random.chance(0.3) ? 0.5 : 0];
  const table = [floats(rows * dim), rows, dim];
  const gradient = floats(batch * dim);
  switch (name) {
    case 'embeddingBag':
      return [...table, ...bags, floats(batch * dim)];
    case 'embeddingBagGrad':
      return [gradient, ...table, ...bags];
    case 'embeddingBagWeightsGrad':
      bags[2] = floats(nnz);
      return [...table, ...bags, gradient, floats(nnz)];
    case 'sparseApply': {
      const optimizer = random.whole(0, 6);
      const slot = floats(optimizer === 2 ? rows : rows * dim);
      const slots = [optimizer === 0 ? null : slot, optimizer < 3 ? null : floats(rows * dim)];
      return [...table, ...bags, optimizer, ...slots, gradient, floats(26)];
    }
    default:
      return [random.whole(-2, 70)];
  }
}

/** Whether an array of the current call was made to lie in the memory, or in the margin, of another. */
let overlaps = false;

/** Replaces some arguments; two arguments may come to share memory. */
function spoil(args: unknown[]): void {
  for (let times = random.whole(0, 3); times > 0; times--) {
    const i = random.whole(0, args.length);
    const [mine, other] = [args[i], args[random.whole(0, args.length)]];
    if (args.length === 0) return;
    if (mine instanceof Int32Array && ArrayBuffer.isView(mine) && random.chance(0.6)) {
      if (mine.length > 0) mine[random.whole(0, mine.length)] = random.pick([-1, 0, 3, 1e6, -(2 ** 31), 2 ** 31 - 1]);
    } else if (
      mine instanceof Float32Array &&
      ArrayBuffer.isView(mine) &&
      ArrayBuffer.isView(other) &&
      other.byteLength > 0 &&
      random.chance(0.5)
    ) {
      const shift = 4 * random.whole(-2, 3);
      const fits =
        other.byteOffset + shift >= 0 && other.byteOffset + shift + mine.byteLength <= other.buffer.byteLength;
      if (!fits) continue;
      args[i] = new Float32Array(other.buffer, other.byteOffset + shift, mine.length);
      overlaps = true;
    } else {
      args[i] = anything();
    }
  }
  if (random.chance(0.05)) args.length = random.whole(0, args.length + 1);
  if (random.chance(0.05)) args.push(anything());
}

let [returned, threw] = [0, 0];
for (let n = 0; n < calls; n++) {
  guards = [];
  overlaps = false;
  const name = random.pick(names);
  let args: unknown[];
  if (random.chance(0.5)) args = Array.from({ length: random.whole(0, 16) }, anything);
  else spoil((args = rightCall(name)));
  try {
    addon[name]!(...args);
    returned++;
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(`${name} threw ${String(error)}`);
    threw++;
  }
  if (overlaps) continue;
  for (const { bytes, from, to } of guards) {
    const clean = bytes.subarray(0, from).every((b) => b === MARK) && bytes.subarray(to).every((b) => b === MARK);
    if (!clean) throw new Error(`call ${n}: ${name} wrote outside an array`);
  }
}
console.log(JSON.stringify({ calls, returned, threw }));
