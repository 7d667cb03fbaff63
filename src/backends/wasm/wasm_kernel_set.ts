/** The C core as WebAssembly over a memory of its own: a KernelSet for typed arrays. */
import { SLOT_NAMES, slotShapes, type UpdateName } from '../../rules/rules.js';
import {
  type BagOptions,
  type HostBags,
  type HostLookup,
  type HostStep,
  type HostTable,
  type KernelInfo,
  type KernelSet,
  type RowGradients,
  newFloats,
} from '../kernel_set.js';
import type { ModelKernels } from '../model_kernels.js';
import { csrParts, csrRoom, featureNumbers, ofFeature, type CsrParts, type CsrRequest } from '../sparse_core.js';
import type { FoldInJob, TopKJob } from '../ranking.js';
import { WasmHeap } from './heap.js';
import { applyMany, embeddingBags, type StepAt } from './joint_calls.js';
import { WasmKernels, type BagsAt, type TableAt, type Workspace } from './kernels.js';
import { rankingKernels } from './ranking_calls.js';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import { checkLength, checkSplits } from './sizes.js';
import { Staging, type Argument } from './staging.js';
import { threadsOfKernels, type MadeHeap } from './threads/team.js';
import { wasmInfo } from './wasm_info.js';

const NONE = new Float32Array(0);
const NO_STARTS = new Int32Array(0);
/** Numbers of a te_csr_feature: three addresses, the ids, and those of `featureNumbers`. */
const CSR_FEATURE_WORDS = 10;

/** Arrays that are views of `heap` are used where they lie; others are copied in, and back, on each call. */
export class WasmKernelSet implements KernelSet, Omit<ModelKernels, 'matMul' | 'scanLists' | 'rankRows'> {
  readonly name = 'wasm';
  private memory: MadeHeap | null = null;
  private instance: WasmKernels | null = null;
  private readonly isShared: boolean;
  private asked = 1;

  /** `shared`: threads may help, where there can be such. */
  constructor({ shared = false } = {}) {
    this.isShared = shared;
  }

  /** The memory. The instance takes its stack first: it could otherwise grow the memory under a view in use. */
  get heap(): WasmHeap {
    this.kernels();
    return this.ownHeap;
  }

  info(): KernelInfo {
    const alone = this.memory === null ? this.singleThreadReason() : this.memory.alone;
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

  /** Memory that any array does for: tables come to lie in that of the set at their first use. */
  allocate(length: number): Float32Array {
    return newFloats('table', 'values', [length]);
  }

  lookUp(lookups: readonly HostLookup[]): void {
    if (lookups.length > 1) this.lookUpTogether(lookups);
    else for (const lookup of lookups) this.lookUpOne(lookup);
  }

  private lookUpOne({ table, bags, options, pooled }: HostLookup): void {
    checkLength('pooled', pooled.length, pooledLength(bags, table));
    const request: Request = { table, direction: 'in', bags, others: [{ array: pooled, direction: 'out' }] };
    this.call(request, (kernels, { tableAt, bagsAt, others: [at] }) => {
      kernels.embeddingBag(tableAt, bagsAt, options, at!);
    });
  }

  private lookUpTogether(lookups: readonly HostLookup[]): void {
    const args = lookups.map(({ table, bags, pooled }): Argument[] => {
      checkLength('pooled', pooled.length, pooledLength(bags, table));
      return [...argumentsOf(table, 'in', bags), { array: pooled, direction: 'out' }];
    });
    this.callTogether(args, lookups, (kernels, places) => {
      embeddingBags(
        kernels,
        lookups.map(({ options }, i) => ({ ...places[i]!, options, pooled: places[i]!.others[0]! })),
      );
    });
  }

  rowGradients(
    gradient: Float32Array,
    bags: HostBags,
    table: HostTable<Float32Array>,
    options: BagOptions,
  ): RowGradients {
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

  weightsGradient(
    table: HostTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void {
    checkLength('gradient', gradient.length, pooledLength(bags, table));
    checkLength('out', out.length, bags.values.length);
    const others: Argument[] = [
      { array: gradient, direction: 'in' },
      { array: out, direction: 'out' },
    ];
    this.call({ table, direction: 'in', bags, others }, (kernels, { tableAt, bagsAt, others: [from, to] }) => {
      kernels.weightsGrad(tableAt, bagsAt, options, from!, to!);
    });
  }

  step(optimizer: UpdateName, steps: readonly HostStep[]): void {
    const areTogether = steps.length > 1 || steps.some(({ useStarts }) => useStarts !== null);
    if (areTogether) this.stepTogether(optimizer, steps);
    else for (const step of steps) this.stepOne(optimizer, step);
  }

  private stepTogether(optimizer: UpdateName, steps: readonly HostStep[]): void {
    const args = steps.map((step): Argument[] => {
      const { table, bags, others } = stepRequest(optimizer, step);
      const useStarts: Argument = { array: step.useStarts ?? NO_STARTS, direction: 'in' };
      return [...argumentsOf(table, 'inout', bags), useStarts, ...others];
    });
    this.callTogether(args, steps, (kernels, places) => {
      const calls = steps.map(({ options, hyper, useStarts }, i): StepAt => {
        const { others, ...ofTable } = places[i]!;
        const [starts, gradient, ...slots] = others as [number, number, ...number[]];
        return { ...ofTable, options, hyper, gradient, slots, useStarts: starts, moreUses: useStarts?.length ?? 0 };
      });
      applyMany(kernels, optimizer, calls);
    });
  }

  private stepOne(optimizer: UpdateName, step: HostStep): void {
    const { options, hyper } = step;
    this.call(stepRequest(optimizer, step), (kernels, { tableAt, bagsAt, others, workspace }) => {
      const [gradientAt, ...slotsAt] = others;
      kernels.apply(optimizer, tableAt, slotsAt, bagsAt, options, gradientAt!, hyper, workspace);
    });
  }

  topK(job: TopKJob): void {
    rankingKernels(this.kernels()).topK(job);
  }

  foldIn(job: FoldInJob): void {
    rankingKernels(this.kernels()).foldIn(job);
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
    const { codec, rows, dim } = table;
    const sizes = sizesOf(bags);
    const nowhere = { values: 0, rowSplits: 0, weights: 0 };
    const given = argumentsOf(table, direction, bags);
    const kernels = this.kernels();
    kernels.team?.wakeWorkers(sizes.nnz);
    const bytes = workspaceBytes?.(kernels, { address: 0, codec, rows, dim }, { ...nowhere, ...sizes }) ?? 0;
    const staging = new Staging(this.ownHeap, [...given, ...others], bytes);
    try {
      const placed = placedAt(staging.addresses, { table, bags });
      const tableAt = { ...placed.table, address: direction === 'unread' ? 0 : placed.table.address };
      const workspace = { address: staging.room, bytes };
      const result = run(kernels, { tableAt, bagsAt: placed.bags, others: placed.others, workspace });
      staging.copyBack();
      return result;
    } finally {
      staging.release();
    }
  }

  /** Runs a kernel on many tables; `args`: what each takes, its table and its bags first. */
  private callTogether(
    args: readonly (readonly Argument[])[],
    tables: readonly Pick<HostLookup, 'table' | 'bags'>[],
    run: (kernels: WasmKernels, places: readonly PlacedTable[]) => void,
  ): void {
    const kernels = this.kernels();
    const staging = new Staging(this.ownHeap, args.flat());
    let next = 0;
    try {
      const places = tables.map((table, i) => {
        const addresses = staging.addresses.slice(next, (next += args[i]!.length));
        return placedAt(addresses, table);
      });
      run(kernels, places);
      staging.copyBack();
    } finally {
      staging.release();
    }
  }

  private singleThreadReason(): string | null {
    const threads = this.isShared ? threadsOfKernels() : null;
    return threads === null ? 'it was made without' : threads.alone();
  }

  private get ownHeap(): WasmHeap {
    if (this.memory === null) {
      const shared = this.isShared ? threadsOfKernels()?.sharedHeap() : undefined;
      this.memory = shared ?? { heap: new WasmHeap(), alone: this.singleThreadReason() };
    }
    return this.memory.heap;
  }

  kernels(): WasmKernels {
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

function sizesOf({ values, rowSplits }: HostBags): Pick<BagsAt, 'nnz' | 'batch'> {
  return { nnz: values.length, batch: rowSplits.length - 1 };
}

/** What every kernel takes: the table and the bags, with the lengths that they must have. */
function argumentsOf(
  { codec, data, rows, dim }: HostTable,
  direction: Request['direction'],
  bags: HostBags,
): Argument[] {
  if (direction !== 'unread') checkLength('table', data.length, rows * codec.words(dim));
  if (bags.weights !== null) checkLength('weights', bags.weights.length, bags.values.length);
  return [
    { array: direction === 'unread' ? NONE : data, direction: direction === 'inout' ? 'inout' : 'in' },
    { array: bags.values, direction: 'in' },
    { array: bags.rowSplits, direction: 'in' },
    { array: bags.weights ?? NONE, direction: 'in' },
  ];
}

/** Where the arguments of `argumentsOf` lie, and those behind them. */
interface PlacedTable {
  readonly table: TableAt;
  readonly bags: BagsAt;
  readonly others: readonly number[];
}

function placedAt(
  [address, values, rowSplits, weights, ...others]: readonly number[],
  { table, bags }: Pick<HostLookup, 'table' | 'bags'>,
): PlacedTable {
  return {
    table: { address: address!, codec: table.codec, rows: table.rows, dim: table.dim },
    bags: {
      values: values!,
      rowSplits: rowSplits!,
      weights: bags.weights === null ? 0 : weights!,
      ...sizesOf(bags),
    },
    others,
  };
}

/** What a step takes, checked. */
function stepRequest(optimizer: UpdateName, { table, slots, gradient, bags, hyper }: HostStep): Request {
  checkLength('gradient', gradient.length, pooledLength(bags, table));
  checkLength('hyper', hyper.length, HYPER_FIELDS.length);
  checkLength('slots', slots.length, SLOT_NAMES[optimizer].length);
  slotShapes(optimizer, [table.rows, table.dim]).forEach((shape, i) => {
    const length = shape.reduce((a, b) => a * b);
    checkLength(`slots[${i}]`, slots[i]!.length, length);
  });
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
  readonly table: HostTable;
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
