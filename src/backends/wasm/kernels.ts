/** The C core inside one memory: kernels called with addresses. */
import { described, ValueError } from '../../base/errors.js';
import { COMBINERS, INT32_MAX, OUT_OF_RANGE } from '../../base/types.js';
import type { Codec } from '../../codecs/codec.js';
import { FLOAT32 } from '../../codecs/float32.js';
import { UPDATE_NAMES, slotArguments, type UpdateName } from '../../rules/rules.js';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import { type BagOptions, kernelError } from '../kernel_set.js';
import type { CsrRequest } from '../sparse_core.js';
import type { WorkerProgram } from '../../base/worker_thread.js';
import type { Heap } from './heap.js';
import { isShared, moduleFor } from './module.js';
import { threadsOfKernels, type Team } from './threads/team.js';

/** A table in the memory; address 0 for one that the kernel does not read. */
export interface TableAt {
  readonly address: number;
  readonly codec: Codec;
  readonly rows: number;
  readonly dim: number;
}

/** The ids of a batch in the memory; weights at 0 mean none. */
export interface BagsAt {
  readonly values: number;
  readonly rowSplits: number;
  readonly weights: number;
  readonly nnz: number;
  readonly batch: number;
}

/** Scratch memory of one call. */
export interface Workspace {
  readonly address: number;
  readonly bytes: number;
}

type Call = (...numbers: number[]) => number;

interface Exports {
  readonly __stack_pointer: WebAssembly.Global;
  /** Address of what threads share; 0: there is one. */
  readonly te_pool: WebAssembly.Global;
  readonly te_wasm_threads: Call;
  readonly te_wasm_bag: Call;
  readonly te_wasm_bags_many: Call;
  readonly te_wasm_apply_many: Call;
  readonly te_wasm_steps_bytes: Call;
  readonly te_wasm_matmul: Call;
  readonly te_wasm_grad_workspace: Call;
  readonly te_wasm_grad_group: Call;
  readonly te_wasm_grad_rows: Call;
  readonly te_wasm_weights_grad: Call;
  readonly te_wasm_apply_workspace: Call;
  readonly te_wasm_apply: Call;
  readonly te_wasm_csr_workspace: Call;
  readonly te_wasm_csr: Call;
  readonly te_wasm_top_k_workspace: Call;
  readonly te_wasm_top_k: Call;
  readonly te_wasm_list_scan_workspace: Call;
  readonly te_wasm_scan_lists: Call;
  readonly te_wasm_fold_in_workspace: Call;
  readonly te_wasm_fold_in: Call;
}

/** Slots that an int32 counts, in eights. */
const MOST_SLOTS = 2 ** 31 - 8;
const STACK_BYTES = 65536;
const RESULT_BYTES = 16;
export const HYPER_BYTES = HYPER_FIELDS.length * 4;
export const NO_TABLE: TableAt = { address: 0, codec: FLOAT32, rows: 0, dim: 1 };
export const NO_BAGS: BagsAt = { values: 0, rowSplits: 0, weights: 0, nnz: 0, batch: 0 };

/** One instance of the module. It lives as long as the memory: its stack is never given back. */
export class WasmKernels {
  readonly exports: Exports;
  /** Where the C side writes code, id, position and the number of unique ids. */
  readonly result: number;
  /** Threads that may help; null where the memory is not shared, or none were brought. */
  readonly team: Team | null;
  private readonly hyper: number;

  /** `helpers`: what workers run that help; given by tests alone. */
  constructor(
    readonly heap: Heap,
    helpers?: WorkerProgram,
  ) {
    const module = moduleFor(heap.memory);
    const base = heap.malloc(STACK_BYTES + RESULT_BYTES + HYPER_BYTES, 'kernels');
    const instance = new WebAssembly.Instance(module, { env: { memory: heap.memory } });
    const exports = instance.exports as unknown as Exports;
    // The stack grows downwards from here.
    exports.__stack_pointer.value = (base + STACK_BYTES) | 0;
    const isAlone = !isShared(heap.memory.buffer);
    this.team = isAlone ? null : (threadsOfKernels()?.team(heap, module, helpers) ?? null);
    exports.te_pool.value = (this.team?.pool ?? 0) | 0;
    this.exports = this.team === null ? exports : runBy(this.team, exports);
    this.result = base + STACK_BYTES;
    this.hyper = this.result + RESULT_BYTES;
  }

  /** Writes pooled [batch, dim]. */
  embeddingBag(table: TableAt, bags: BagsAt, options: BagOptions, pooled: number): void {
    this.check(this.exports.te_wasm_bag(...this.lookup(table, bags, options), pooled, this.result), table, bags);
  }

  gradWorkspace(table: TableAt, bags: BagsAt): number {
    const bytes = this.exports.te_wasm_grad_workspace(bags.nnz, bags.batch, ...sizeOf(table));
    return this.workspace(bytes, table, bags);
  }

  /** Groups the ids in the workspace and returns how many rows are touched. */
  gradGroup(table: TableAt, bags: BagsAt, options: BagOptions, workspace: Workspace): number {
    const tail = [workspace.address, workspace.bytes, this.result];
    this.check(this.exports.te_wasm_grad_group(...this.lookup(table, bags, options), ...tail), table, bags);
    return this.resultField(3);
  }

  /** Writes uniqueIds [unique] and rowGradients [unique, dim] from a workspace that gradGroup filled. */
  gradRows(
    table: TableAt,
    bags: BagsAt,
    options: BagOptions,
    gradient: number,
    workspace: Workspace,
    uniqueIds: number,
    rowGradients: number,
  ): void {
    const { address, bytes } = workspace;
    const tail = [gradient, address, bytes, uniqueIds, rowGradients, this.result];
    this.check(this.exports.te_wasm_grad_rows(...this.lookup(table, bags, options), ...tail), table, bags);
  }

  /** Writes the gradient of the weights, [nnz]. */
  weightsGrad(table: TableAt, bags: BagsAt, options: BagOptions, gradient: number, out: number): void {
    const tail = [gradient, out, this.result];
    this.check(this.exports.te_wasm_weights_grad(...this.lookup(table, bags, options), ...tail), table, bags);
  }

  applyWorkspace(optimizer: UpdateName, table: TableAt, bags: BagsAt): number {
    const index = UPDATE_NAMES.indexOf(optimizer);
    const bytes = this.exports.te_wasm_apply_workspace(index, bags.nnz, bags.batch, ...sizeOf(table));
    return this.workspace(bytes, table, bags);
  }

  /** One exact step in place. */
  apply(
    optimizer: UpdateName,
    table: TableAt,
    slots: readonly number[],
    bags: BagsAt,
    options: BagOptions,
    gradient: number,
    hyper: ArrayLike<number>,
    workspace: Workspace,
  ): void {
    new Float32Array(this.heap.memory.buffer, this.hyper, HYPER_FIELDS.length).set(hyper);
    const state = [UPDATE_NAMES.indexOf(optimizer), ...slotArguments(slots, 0), slots.length];
    const tail = [...state, gradient, this.hyper, workspace.address, workspace.bytes, this.result];
    this.check(this.exports.te_wasm_apply(...this.lookup(table, bags, options), ...tail), table, bags);
  }

  csrWorkspace(request: CsrRequest): number {
    const sizes = csrSizes(request);
    return this.workspace(this.exports.te_wasm_csr_workspace(...sizes), NO_TABLE, { ...NO_BAGS, nnz: sizes[0]! });
  }

  /** Makes a CSR; `features` and `outputs` lie in the memory, in the order of the C function. Returns the slots in use. */
  partitionCsr(request: CsrRequest, features: number, outputs: readonly number[], workspace: Workspace): number {
    const sizes = csrSizes(request);
    const tail = [Math.min(request.capacity, MOST_SLOTS), ...outputs, workspace.address, workspace.bytes, this.result];
    this.check(this.exports.te_wasm_csr(features, ...sizes, ...tail), NO_TABLE, { ...NO_BAGS, nnz: sizes[0]! });
    return this.resultField(3);
  }

  /** The arguments that every function starts with. Helpers start where there is work for them. */
  lookup(table: TableAt, bags: BagsAt, options: BagOptions): number[] {
    this.team?.expect(bags.nnz);
    return [
      table.address,
      table.codec.number,
      ...sizeOf(table),
      bags.values,
      bags.rowSplits,
      bags.weights,
      bags.nnz,
      bags.batch,
      COMBINERS.indexOf(options.combiner),
      OUT_OF_RANGE.indexOf(options.outOfRange),
      options.maxNorm,
    ];
  }

  resultField(index: number): number {
    return new Int32Array(this.heap.memory.buffer, this.result, 4)[index]!;
  }

  /** -1 stands for more than can be addressed. A number of ids that is cut to 32 bits gives less than one per id. */
  private workspace(bytes: number, { dim }: TableAt, { nnz }: BagsAt): number {
    if (bytes === -1 || bytes >>> 0 < 4 * nnz) {
      const received = described(`${nnz} ids and ${dim} columns`);
      throw new ValueError('values', 'a batch whose workspace fits into memory', received);
    }
    return bytes >>> 0;
  }

  /** Throws what the C side says. */
  check(code: number, table: TableAt, bags: BagsAt): void {
    if (code === 0) return;
    const status = { code, id: this.resultField(1), position: this.resultField(2) };
    throw kernelError(status, table.rows, bags.nnz);
  }
}

/** Sizes as the functions for CSR take them. */
function csrSizes({ features, cores, shards, samples }: CsrRequest): number[] {
  const nnz = features.reduce((sum, { values }) => sum + values.length, 0);
  const isWeighted = features.some(({ weights }) => weights !== null);
  return [nnz, features.length, isWeighted ? 1 : 0, cores, shards, samples];
}

/** The sizes of a table, which the kernels take as int32: without elements it may be as wide as it likes. */
function sizeOf({ rows, dim }: TableAt): [rows: number, dim: number] {
  if (rows > INT32_MAX || dim > INT32_MAX) {
    throw new ValueError('table', 'at most 2^31 - 1 rows and columns', described(`a shape of [${rows}, ${dim}]`));
  }
  return [rows, dim];
}

/** The same functions, which the team runs. */
function runBy(team: Team, exports: Exports): Exports {
  const wrapped = (call: Call): Call => {
    return (...numbers) => {
      const stack = exports.__stack_pointer.value as number;
      try {
        return team.run(() => call(...numbers));
      } catch (error) {
        exports.__stack_pointer.value = stack;
        throw error;
      }
    };
  };
  const entries = Object.entries(exports).map(([name, value]) => {
    return [name, typeof value === 'function' ? wrapped(value as Call) : (value as WebAssembly.Global)] as const;
  });
  return Object.fromEntries(entries) as unknown as Exports;
}
