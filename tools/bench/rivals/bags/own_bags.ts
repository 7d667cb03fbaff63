/** Our kernels on typed arrays: `own_bags.ts native|wasm|float16|int8 THREADS`; the last two look up packed rows. */
import { floatTable, type BagOptions, type HostTable, type KernelSet } from '../../../../src/backends/kernel_set.js';
import { loadNative } from '../../../../src/backends/native/register.js';
import { ready } from '../../../../src/backends/wasm/module.js';
import { WasmKernelSet } from '../../../../src/backends/wasm/wasm_kernel_set.js';
import { codecOf } from '../../../../src/codecs/codecs.js';
import { SLOT_NAMES, type UpdateName } from '../../../../src/rules/rules.js';
import { floatsOf, readBags, writeOutputs, type BagsRequest, type TableRequest } from './bag_files.js';
import { PACKED } from '../peers.js';
import { Lacks, serve, timed } from '../serve.js';
import { hyperAt, startOf } from './step_settings.js';
import { lookUpInto, stepOne } from '../../../../test/helpers/kernel_calls.js';

const [name, threads] = [process.argv[2]!, Number(process.argv[3])];
const storage = PACKED.find((each) => each === name);
const codec = codecOf(storage);

interface Opened {
  readonly table: HostTable;
  readonly slots: Float32Array[];
  readonly optimizer: UpdateName | null;
  readonly learningRate: number;
}

async function kernelSet(): Promise<KernelSet> {
  if (name !== 'wasm') {
    const native = loadNative();
    native.setThreads(threads);
    return native;
  }
  await ready();
  return new WasmKernelSet();
}

const kernels = await kernelSet();
/** Floats that WebAssembly finds free in its memory for bags and for what kernels need meanwhile. */
const SPARE = 2 ** 26;

/** Arrays in memory that suits the kernels; `free` gives back what WebAssembly lent. */
class Memory {
  private addresses: number[] = [];

  arrays(lengths: readonly number[], spare = 0): Float32Array[] {
    if (!(kernels instanceof WasmKernelSet)) return lengths.map((length) => kernels.allocate!(length));
    const { heap } = kernels;
    this.addresses = lengths.map((length) => heap.malloc(4 * length, 'table'));
    // Views last, and a memory that need not grow later: growing would end them.
    if (spare > 0) heap.free(heap.malloc(4 * spare, 'spare'));
    return this.addresses.map((address, i) => new Float32Array(heap.memory.buffer, address, lengths[i]));
  }

  free(): void {
    for (const address of this.addresses) (kernels as WasmKernelSet).heap.free(address);
    this.addresses = [];
  }
}

const [ofTable, ofBags] = [new Memory(), new Memory()];

let opened: Opened;
let step: () => void;
let n = 0;
let folder: string;
let pooled: Float32Array;

/** Rows of fewer bits; without values all are alike. */
function packed({ rows, dim, table }: TableRequest): HostTable {
  const perRow = codec.words(dim);
  const memory = ofTable.arrays([rows * perRow])[0]!;
  const words = new Int32Array(memory.buffer, memory.byteOffset, memory.length);
  codec.pack(table === null ? new Float32Array(dim).fill(0.01) : floatsOf(table), dim, words);
  for (let filled = perRow; table === null && filled < words.length; filled *= 2) words.copyWithin(filled, 0, filled);
  return { codec, data: words, rows, dim };
}

function open(request: TableRequest): void {
  if (storage !== undefined) {
    if (request.optimizer !== null) throw new Lacks('no steps');
    opened = { table: packed(request), slots: [], optimizer: null, learningRate: 0 };
    return;
  }
  openFloats(request);
}

function openFloats({ rows, dim, table, optimizer, learningRate }: TableRequest): void {
  const named = optimizer as UpdateName | null;
  const lengths = [rows * dim];
  for (const _ of named === null ? [] : SLOT_NAMES[named]) {
    lengths.push(named === 'rowWiseAdagrad' ? rows : rows * dim);
  }
  if (name === 'wasm' && threads > 1) throw new Lacks('one thread');
  if (name === 'wasm' && lengths.reduce((sum, length) => sum + length, SPARE) > 2 ** 29) {
    throw new Lacks('tables and slots of at most 1.7 GB');
  }
  const [data, ...slots] = ofTable.arrays(lengths, SPARE);
  if (table === null) data!.fill(0.01);
  else data!.set(floatsOf(table));
  slots.forEach((slot, i) => slot.fill(startOf(named!, i)));
  opened = { table: floatTable(data!, rows, dim), slots, optimizer: named, learningRate };
}

function bags(request: BagsRequest): void {
  const { batches, gradient } = readBags(request);
  const options: BagOptions = { combiner: request.combiner, outOfRange: 'error', maxNorm: 0 };
  const { table, slots, optimizer, learningRate } = opened;
  ofBags.free();
  const [given, rowsOfBags] = ofBags.arrays([gradient.length, gradient.length]) as [Float32Array, Float32Array];
  given.set(gradient);
  pooled = rowsOfBags;
  folder = request.folder;
  n = 0;
  let steps = 0;
  step = () => {
    const batch = batches[n++ % batches.length]!;
    lookUpInto(kernels, table, batch, options, pooled);
    if (optimizer === null) return;
    const hyper = hyperAt(optimizer, learningRate, ++steps);
    stepOne(kernels, optimizer, table, slots, given, batch, options, hyper);
  };
}

function outputs({ steps }: { steps: number }): void {
  n = 0;
  step();
  const first = pooled.slice();
  for (let k = 1; k < steps; k++) step();
  const { table } = opened;
  writeOutputs(folder, first, table.codec.unpack(table.data, table.dim));
}

function close(): void {
  ofBags.free();
  ofTable.free();
  opened = undefined as never;
}

const { instructionSet } = kernels.info();
await serve(`tfjs-embeddings ${name}, ${instructionSet}`, {
  open,
  bags,
  outputs,
  close,
  run: ({ steps }: { steps: number }) => timed(step, steps),
});
