/** The C core as WebAssembly over a memory of its own: a KernelSet for typed arrays. */
import { SLOT_NAMES, slotShape, type OptimizerName } from '../../rules/rules.js';
import type { BagOptions, HostBags, HostTable, KernelInfo, KernelSet, RowGradients } from '../kernel_set.js';
import { csrParts, csrRoom, featureNumbers, ofFeature } from '../csr_memory.js';
import { newFloats } from '../memory.js';
import { wordsPerRow, type PackedTable } from '../packed/packed_table.js';
import type { CsrParts, CsrRequest } from '../sparse_core.js';
import { WasmHeap } from './heap.js';
import { WasmKernels, type BagsAt, type TableAt, type Workspace } from './kernels.js';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import { checkLength, checkSplits } from './sizes.js';
import { Staging, type Argument } from './staging.js';
import { threadsOfKernels, type MadeHeap } from './threads/team.js';
import { wasmInfo } from './wasm_info.js';

const NONE = new Float32Array(0);
/** Numbers of a te_csr_feature: three addresses, the ids, and those of `featureNumbers`. */
const CSR_FEATURE_WORDS = 10;

/** The gradient and what is made of it, with the lengths that they must have. */
function weightsGradArguments(
  table: HostTable | PackedTable,
  gradient: Float32Array,
  bags: HostBags,
  out: Float32Array,
): Argument[] {
  checkLength('gradient', gradient.length, pooledLength(bags, table));
  checkLength('out', out.length, bags.values.length);
  return [
    { array: gradient, direction: 'in' },
    { array: out, direction: 'out' },
  ];
}

/** Arrays that are views of `heap` are used where they lie; others are copied in, and back, on each call. */
export class WasmKernelSet implements KernelSet {
  readonly name = 'wasm';
  private memory: MadeHeap | null = null;
  private instance: WasmKernels | null = null;
  private readonly isShared: boolean;
  private asked = 1;

  /** `shared`: threads may help, where there can be such. */
  constructor({ shared = false } = {}) {
    this.isShared = shared;
  }

  /** The memory. The instance takes its stack first: it could otherwise grow the memory under somebody's view. */
  get heap(): WasmHeap {
    this.kernels();
    return this.ownHeap;
  }

  info(): KernelInfo {
    const alone = this.memory === null ? this.whyAlone() : this.memory.alone;
    return wasmInfo(this.asked, this.instance?.team ?? null, alone);
  }

  /** One thread runs where the memory is not shared. */
  setThreads(threads: number): void {
    this.asked = threads;
    this.instance?.team?.setThreads(threads);
  }

  /** Threads that would work on a large call now: those that help start late. */
  get threadsAtWork(): number {
    return this.instance?.exports.te_wasm_threads() ?? 1;
  }

  /** Tasks that others than the caller have done. */
  get tasksHelped(): number {
    return this.instance?.team?.tasksHelped ?? 0;
  }

  /** Ends the threads that help. */
  async close(): Promise<void> {
    await this.instance?.team?.close();
  }

  embeddingBag(table: HostTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
    const output: Argument = { array: pooled, direction: 'out' };
    checkLength('pooled', pooled.length, pooledLength(bags, table));
    this.call({ table, direction: 'in', bags, others: [output] }, (kernels, { tableAt, bagsAt, others }) =>
      kernels.embeddingBag(tableAt, bagsAt, options, others[0]!),
    );
  }

  embeddingBagGrad(gradient: Float32Array, bags: HostBags, table: HostTable, options: BagOptions): RowGradients {
    checkLength('gradient', gradient.length, pooledLength(bags, table));
    const request: Request = {
      table,
      direction: options.maxNorm > 0 ? 'in' : 'unread',
      bags,
      others: [{ array: gradient, direction: 'in' }],
      workspaceBytes: (kernels, tableAt, bagsAt) => kernels.gradWorkspace(tableAt, bagsAt),
    };
    return this.call(request, (kernels, { tableAt, bagsAt, others, workspace }) => {
      const unique = kernels.gradGroup(tableAt, bagsAt, options, workspace);
      const uniqueIds = new Int32Array(unique);
      const rowGradients = newFloats('gradient', 'row gradients', [unique, table.dim]);
      const outputs = new Staging(this.heap, [
        { array: uniqueIds, direction: 'out' },
        { array: rowGradients, direction: 'out' },
      ]);
      try {
        const [ids, rows] = outputs.addresses;
        kernels.gradRows(tableAt, bagsAt, options, others[0]!, workspace, ids!, rows!);
        outputs.copyBack();
      } finally {
        outputs.release();
      }
      return { uniqueIds, rowGradients };
    });
  }

  embeddingBagWeightsGrad(
    table: HostTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void {
    const others = weightsGradArguments(table, gradient, bags, out);
    this.call({ table, direction: 'in', bags, others }, (kernels, { tableAt, bagsAt, others: at }) =>
      kernels.weightsGrad(tableAt, bagsAt, options, at[0]!, at[1]!),
    );
  }

  packedBag(table: PackedTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
    const output: Argument = { array: pooled, direction: 'out' };
    checkLength('pooled', pooled.length, pooledLength(bags, table));
    this.call({ table, direction: 'in', bags, others: [output] }, (kernels, { tableAt, bagsAt, others }) =>
      kernels.packedBag(tableAt, table.storage, bagsAt, options, others[0]!),
    );
  }

  packedBagWeightsGrad(
    table: PackedTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void {
    const others = weightsGradArguments(table, gradient, bags, out);
    this.call({ table, direction: 'in', bags, others }, (kernels, { tableAt, bagsAt, others: at }) =>
      kernels.packedBagWeightsGrad(tableAt, table.storage, bagsAt, options, at[0]!, at[1]!),
    );
  }

  sparseApply(
    optimizer: OptimizerName,
    table: HostTable,
    slots: readonly Float32Array[],
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    hyper: Float32Array,
  ): void {
    const request = stepRequest(optimizer, table, slots, gradient, bags, hyper);
    this.call(request, (kernels, { tableAt, bagsAt, others, workspace }) => {
      const [gradientAt, ...slotsAt] = others;
      kernels.apply(optimizer, tableAt, slotsAt, bagsAt, options, gradientAt!, hyper, workspace);
    });
  }

  packedApply(
    optimizer: OptimizerName,
    table: PackedTable,
    slots: readonly Float32Array[],
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    hyper: Float32Array,
  ): void {
    const request = stepRequest(optimizer, table, slots, gradient, bags, hyper);
    this.call(request, (kernels, { tableAt, bagsAt, others, workspace }) => {
      const [gradientAt, ...slotsAt] = others;
      kernels.packedApply(
        ...([optimizer, tableAt, table.storage, slotsAt, bagsAt, options, gradientAt!, hyper, workspace] as const),
      );
    });
  }

  partitionCsr(request: CsrRequest): CsrParts {
    const { features } = request;
    const room = csrRoom(request);
    const { rowPointers, sampleIds, tokenIds, gains, idCounts, uniqueIdCounts } = room;
    const words = new Int32Array(features.length * CSR_FEATURE_WORDS);
    const read = [words, ...features.flatMap(({ values, rowSplits, weights }) => [values, rowSplits, weights ?? NONE])];
    const written = [rowPointers, sampleIds, tokenIds, gains, idCounts, uniqueIdCounts];
    const kernels = this.kernels();
    const bytes = kernels.csrWorkspace(request);
    const args = [
      ...read.map((array): Argument => ({ array, direction: 'in' })),
      ...written.map((array): Argument => ({ array, direction: 'out' })),
    ];
    const staging = new Staging(this.ownHeap, args, bytes);
    try {
      const [wordsAt, ...addresses] = staging.addresses;
      const numbers = features.flatMap((feature, i) => {
        const [values, rowSplits, weights] = addresses.slice(3 * i, 3 * i + 3) as [number, number, number];
        const pointers = [values, rowSplits, feature.weights === null ? 0 : weights];
        return [...pointers, feature.values.length, ...featureNumbers(feature)];
      });
      new Int32Array(this.ownHeap.memory.buffer, wordsAt!, words.length).set(numbers);
      const outputsAt = addresses.slice(3 * features.length);
      const used = kernels.partitionCsr(request, wordsAt!, outputsAt, { address: staging.room, bytes });
      staging.copyBack();
      return csrParts(room, used);
    } catch (error) {
      throw ofFeature(error, request);
    } finally {
      staging.release();
    }
  }

  /** Runs a kernel with everything that it takes placed in the memory. */
  private call<T>(request: Request, run: (kernels: WasmKernels, placed: Placed) => T): T {
    const { table, direction, bags, others, workspaceBytes } = request;
    const { rows, dim } = table;
    const values = 'words' in table ? table.words : table.data;
    const perRow = 'words' in table ? wordsPerRow(table.storage, dim) : dim;
    if (direction !== 'unread') checkLength('table', values.length, rows * perRow);
    if (bags.weights !== null) checkLength('weights', bags.weights.length, bags.values.length);
    const sizes = { nnz: bags.values.length, batch: bags.rowSplits.length - 1 };
    const nowhere = { values: 0, rowSplits: 0, weights: 0 };
    const kernels = this.kernels();
    kernels.team?.rouse(sizes.nnz);
    const bytes = workspaceBytes?.(kernels, { address: 0, rows, dim }, { ...nowhere, ...sizes }) ?? 0;
    const args: Argument[] = [
      { array: direction === 'unread' ? NONE : values, direction: direction === 'inout' ? 'inout' : 'in' },
      { array: bags.values, direction: 'in' },
      { array: bags.rowSplits, direction: 'in' },
      { array: bags.weights ?? NONE, direction: 'in' },
      ...others,
    ];
    const staging = new Staging(this.ownHeap, args, bytes);
    try {
      const [address, valuesAt, rowSplits, weights, ...rest] = staging.addresses;
      const result = run(kernels, {
        tableAt: { address: direction === 'unread' ? 0 : address!, rows, dim },
        bagsAt: { values: valuesAt!, rowSplits: rowSplits!, weights: bags.weights === null ? 0 : weights!, ...sizes },
        others: rest,
        workspace: { address: staging.room, bytes },
      });
      staging.copyBack();
      return result;
    } finally {
      staging.release();
    }
  }

  private whyAlone(): string | null {
    const threads = this.isShared ? threadsOfKernels() : null;
    return threads === null ? 'it was made without' : threads.alone();
  }

  private get ownHeap(): WasmHeap {
    if (this.memory === null) {
      const shared = this.isShared ? threadsOfKernels()?.sharedHeap() : undefined;
      this.memory = shared ?? { heap: new WasmHeap(), alone: this.whyAlone() };
    }
    return this.memory.heap;
  }

  private kernels(): WasmKernels {
    if (this.instance === null) {
      this.instance = new WasmKernels(this.ownHeap);
      this.instance.team?.setThreads(this.asked);
    }
    return this.instance;
  }
}

function pooledLength({ rowSplits }: HostBags, { dim }: { readonly dim: number }): number {
  checkSplits(rowSplits.length);
  return (rowSplits.length - 1) * dim;
}

/** What a step takes, checked. */
function stepRequest(
  optimizer: OptimizerName,
  table: HostTable | PackedTable,
  slots: readonly Float32Array[],
  gradient: Float32Array,
  bags: HostBags,
  hyper: Float32Array,
): Request {
  checkLength('gradient', gradient.length, pooledLength(bags, table));
  checkLength('hyper', hyper.length, HYPER_FIELDS.length);
  checkLength('slots', slots.length, SLOT_NAMES[optimizer].length);
  const slotLength = slotShape(optimizer, [table.rows, table.dim]).reduce((a, b) => a * b);
  slots.forEach((slot, i) => checkLength(`slots[${i}]`, slot.length, slotLength));
  return {
    table,
    direction: 'inout',
    bags,
    others: [{ array: gradient, direction: 'in' }, ...slots.map((array): Argument => ({ array, direction: 'inout' }))],
    workspaceBytes: (kernels, tableAt, bagsAt) => kernels.applyWorkspace(optimizer, tableAt, bagsAt),
  };
}

/** What one call takes. */
interface Request {
  readonly table: HostTable | PackedTable;
  readonly direction: 'in' | 'inout' | 'unread';
  readonly bags: HostBags;
  readonly others: readonly Argument[];
  readonly workspaceBytes?: (kernels: WasmKernels, table: TableAt, bags: BagsAt) => number;
}

/** Where it lies. */
interface Placed {
  readonly tableAt: TableAt;
  readonly bagsAt: BagsAt;
  readonly others: readonly number[];
  readonly workspace: Workspace;
}
