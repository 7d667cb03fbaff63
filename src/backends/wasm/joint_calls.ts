/** Calls of the C core that take many tables, and products of matrices. The smallest entry of the package has none. */
import { UPDATE_NAMES, slotArguments, type UpdateName } from '../../rules/rules.js';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import type { BagOptions } from '../kernel_set.js';
import type { MatrixProduct } from '../model_kernels.js';
import { HYPER_BYTES, NO_BAGS, NO_TABLE, type BagsAt, type TableAt, type WasmKernels } from './kernels.js';

/** A lookup among those of many tables. */
export interface LookupAt {
  readonly table: TableAt;
  readonly bags: BagsAt;
  readonly options: BagOptions;
  readonly pooled: number;
}

/** A step among those of many tables. */
export interface StepAt extends Omit<LookupAt, 'pooled'> {
  readonly slots: readonly number[];
  readonly gradient: number;
  readonly hyper: ArrayLike<number>;
  /** Where the uses of the table begin, and how many there are after the first. */
  readonly useStarts: number;
  readonly moreUses: number;
}

/** A product of matrices; `bias` at 0 means none. */
export interface MatrixProductAt extends Omit<MatrixProduct, 'a' | 'b' | 'bias' | 'out'> {
  readonly a: number;
  readonly b: number;
  readonly bias: number;
  readonly out: number;
}

/** Words of te_wasm_lookup and te_wasm_step in custom-ops/hosts/wasm/module.c. */
const LOOKUP_WORDS = 13;
const STEP_WORDS = 23;
const MAX_NORM_WORD = 11;
const LINE = 64;

/** Records of 32-bit words, one after the other. */
class Records {
  private readonly ints: Int32Array;
  private readonly floats: Float32Array;
  private next: number;

  constructor(
    { buffer }: WebAssembly.Memory,
    address: number,
    private readonly words: number,
  ) {
    this.ints = new Int32Array(buffer);
    this.floats = new Float32Array(buffer);
    this.next = address / 4;
  }

  /** A lookup ends with max_norm, a float. */
  add(ofLookup: readonly number[], ...rest: readonly number[]): void {
    this.ints.set(ofLookup, this.next);
    this.floats[this.next + MAX_NORM_WORD] = ofLookup[MAX_NORM_WORD]!;
    this.ints.set(rest, this.next + MAX_NORM_WORD + 1);
    this.next += this.words;
  }
}

function withRoom({ heap }: WasmKernels, bytes: number, run: (room: number) => void): void {
  const room = heap.malloc(bytes, 'values');
  try {
    run(room);
  } finally {
    heap.free(room);
  }
}

/** The result tells which of many was refused. */
function checkOne(kernels: WasmKernels, code: number, calls: readonly Pick<StepAt, 'table' | 'bags'>[]): void {
  if (code === 0) return;
  const { table, bags } = calls[kernels.resultField(3)]!;
  kernels.check(code, table, bags);
}

/** Helpers start and wake up for what many tables have together. */
function expectAll({ team }: WasmKernels, calls: readonly Pick<StepAt, 'bags'>[]): void {
  const ids = calls.reduce((sum, { bags }) => sum + bags.nnz, 0);
  team?.expect(ids);
  team?.wakeWorkers(ids);
}

/** The pooled rows of many tables. */
export function embeddingBags(kernels: WasmKernels, lookups: readonly LookupAt[]): void {
  expectAll(kernels, lookups);
  withRoom(kernels, 4 * LOOKUP_WORDS * lookups.length, (room) => {
    const records = new Records(kernels.heap.memory, room, LOOKUP_WORDS);
    for (const { table, bags, options, pooled } of lookups) records.add(kernels.lookup(table, bags, options), pooled);
    checkOne(kernels, kernels.exports.te_wasm_bags_many(room, lookups.length, kernels.result), lookups);
  });
}

/** Steps of many tables in place; nothing is written where an id names no row. */
export function applyMany(kernels: WasmKernels, optimizer: UpdateName, steps: readonly StepAt[]): void {
  expectAll(kernels, steps);
  // Behind the records, where the core keeps its own.
  const recordBytes = Math.ceil((4 * STEP_WORDS * steps.length) / LINE) * LINE;
  let bytes = recordBytes + kernels.exports.te_wasm_steps_bytes(steps.length) + LINE;
  const places = steps.map(({ table, bags }) => {
    const workspace = { address: bytes + HYPER_BYTES, bytes: kernels.applyWorkspace(optimizer, table, bags) };
    bytes = Math.ceil((workspace.address + workspace.bytes) / LINE) * LINE;
    return workspace;
  });
  withRoom(kernels, bytes, (room) => {
    const records = new Records(kernels.heap.memory, room, STEP_WORDS);
    steps.forEach(({ table, bags, options, slots, gradient, hyper, useStarts, moreUses }, i) => {
      const { address, bytes: size } = places[i]!;
      const hyperAt = room + address - HYPER_BYTES;
      new Float32Array(kernels.heap.memory.buffer, hyperAt, HYPER_FIELDS.length).set(hyper);
      const state = [...slotArguments(slots, 0), slots.length];
      const rest = [...state, hyperAt, room + address, size, useStarts, moreUses];
      records.add(kernels.lookup(table, bags, options), gradient, ...rest);
    });
    const index = UPDATE_NAMES.indexOf(optimizer);
    checkOne(
      kernels,
      kernels.exports.te_wasm_apply_many(index, room, steps.length, room + recordBytes, kernels.result),
      steps,
    );
  });
}

/** A product of matrices. */
export function matMul(kernels: WasmKernels, product: MatrixProductAt): void {
  const { a, b, bias, out, batch, batchA, batchB, m, n, k, transposeA, transposeB, relu } = product;
  const numbers = [a, b, bias, out, batch, batchA, batchB, m, n, k, +transposeA, +transposeB, +relu];
  withRoom(kernels, transposeB ? 4 * k * n : 0, (room) => {
    kernels.check(kernels.exports.te_wasm_matmul(...numbers, room, kernels.result), NO_TABLE, NO_BAGS);
  });
}
