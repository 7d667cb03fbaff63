/** The C core on typed arrays, through the addon. Knows nothing of Node, so that workers bundle it for any runtime. */
import { ValueError, described } from '../../base/errors.js';
import { COMBINERS, OUT_OF_RANGE } from '../../base/types.js';
import { UPDATE_NAMES, slotArguments, type UpdateName } from '../../rules/rules.js';
import {
  type BagOptions,
  type HostBags,
  type HostLookup,
  type HostStep,
  type HostTable,
  type KernelInfo,
  type KernelSet,
  type RowGradients,
  kernelError,
  type KernelStatus,
  fitting,
} from '../kernel_set.js';
import type { MatrixProduct, ModelKernels } from '../model_kernels.js';
import { csrParts, csrRoom, featureNumbers, ofFeature, type CsrParts, type CsrRequest } from '../sparse_core.js';
import { alignedMemory } from '../stores/aligned_memory.js';
import type { FoldInJob, IdLists, ListScanJob, RankJob, TopKJob } from '../ranking.js';
import type { Addon, BagArguments, ListsArguments, LookupArguments, RowsArguments, StepArguments } from './addon.js';

const NO_IDS = new Int32Array(0);

function bagArguments(bags: HostBags, options: BagOptions): BagArguments {
  return [
    bags.values,
    bags.rowSplits,
    bags.weights,
    COMBINERS.indexOf(options.combiner),
    OUT_OF_RANGE.indexOf(options.outOfRange),
    options.maxNorm,
  ];
}

function rowsArguments({ codec, data, rows, dim }: HostTable): RowsArguments {
  return [data, codec.number, rows, dim];
}

function listsArguments(lists: IdLists | null): ListsArguments {
  return lists === null ? [null, null] : [lists.values, lists.rowSplits];
}

/** What the addon attaches to its errors: `status`, where the C core refused the call. */
type AddonError = Omit<KernelStatus, 'code'> & {
  readonly code: string;
  readonly status?: number;
  /** Of a list of calls: which one. */
  readonly entry?: number;
};

/** How the addon words a size or a value that it does not take. */
const OUT_OF_RANGE_ARGUMENT = /^`(\w+)`: expected (.+), received (.+)$/;

/** An error of the addon in the words of this package. */
function translated(error: unknown, rows: number, nnz: number): unknown {
  const { code, status, id, position } = error as AddonError;
  if (status !== undefined) return kernelError({ code: status, id, position }, rows, nnz);
  const argument = code === 'ERR_OUT_OF_RANGE' ? OUT_OF_RANGE_ARGUMENT.exec((error as Error).message) : null;
  if (argument === null) return error;
  const [, name, expected, received] = argument as unknown as [string, string, string, string];
  return new ValueError(name, expected, described(received));
}

/** What a kernel of the addon runs on. */
type Ran = Pick<HostLookup, 'table'> & { readonly bags: Pick<HostBags, 'values'> };

/** Runs a kernel of the addon on one table. */
function run<T>({ table, bags }: Ran, kernel: () => T): T {
  try {
    return kernel();
  } catch (error) {
    throw translated(error, table.rows, bags.values.length);
  }
}

/** Runs a kernel of the addon on several tables. */
function runMany(tables: readonly Ran[], kernel: () => void): void {
  try {
    kernel();
  } catch (error) {
    const at = tables[(error as AddonError).entry ?? -1];
    throw translated(error, at?.table.rows ?? 0, at?.bags.values.length ?? 0);
  }
}

function stepArguments(optimizer: UpdateName, step: HostStep): StepArguments {
  const { table, slots, gradient, bags, options, hyper, useStarts } = step;
  const ids = bagArguments(bags, options);
  const tail = [...slotArguments(slots, null), gradient, hyper, useStarts ?? undefined] as const;
  return [...rowsArguments(table), ...ids, UPDATE_NAMES.indexOf(optimizer), ...tail];
}

export class NativeKernelSet implements KernelSet, ModelKernels {
  readonly name = 'native';
  /** `path`: where the addon was loaded from, for other threads to load it too. */
  constructor(
    readonly addon: Addon,
    readonly path: string,
  ) {}

  info(): KernelInfo {
    return {
      implementation: 'native',
      instructionSet: this.addon.instructionSet(),
      threads: this.addon.getThreads(),
    };
  }

  setThreads(threads: number): void {
    this.addon.setThreads(threads);
  }

  allocate(length: number): Float32Array {
    const { tableOffset } = this.addon;
    const { buffer, offset } = fitting('table', 'values', [length], () => alignedMemory(4 * length, tableOffset));
    return new Float32Array(buffer, offset, length);
  }

  lookUp(lookups: readonly HostLookup[]): void {
    const calls = lookups.map(({ table, bags, options, pooled }): LookupArguments => {
      return [...rowsArguments(table), ...bagArguments(bags, options), pooled];
    });
    if (calls.length === 1) run(lookups[0]!, () => this.addon.embeddingBag(...calls[0]!));
    else if (calls.length > 1) runMany(lookups, () => this.addon.embeddingBags(calls));
  }

  rowGradients(
    gradient: Float32Array,
    bags: HostBags,
    table: HostTable<Float32Array>,
    options: BagOptions,
  ): RowGradients {
    const { codec, rows, dim } = table;
    const data = options.maxNorm > 0 ? table.data : null;
    const [uniqueIds, rowGradients] = run({ table, bags }, () =>
      this.addon.embeddingBagGrad(gradient, data, codec.number, rows, dim, ...bagArguments(bags, options)),
    );
    return { uniqueIds, rowGradients };
  }

  weightsGradient(
    table: HostTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void {
    const args = [...rowsArguments(table), ...bagArguments(bags, options), gradient, out] as const;
    run({ table, bags }, () => this.addon.embeddingBagWeightsGrad(...args));
  }

  step(optimizer: UpdateName, steps: readonly HostStep[]): void {
    const calls = steps.map((step) => stepArguments(optimizer, step));
    if (calls.length === 1) run(steps[0]!, () => this.addon.sparseApply(...calls[0]!));
    else if (calls.length > 1) runMany(steps, () => this.addon.sparseApplyMany(calls));
  }

  matMul({ a, b, bias, out, batch, batchA, batchB, m, n, k, transposeA, transposeB, relu }: MatrixProduct): void {
    this.addon.matMul(a, b, bias, out, batch, batchA, batchB, m, n, k, +transposeA, +transposeB, +relu);
  }

  topK({ table, firstRow, queries, count, k, exclude, only, values, indices }: TopKJob): void {
    const lists = [...listsArguments(exclude), ...listsArguments(only)] as const;
    run({ table, bags: { values: only?.values ?? NO_IDS } }, () =>
      this.addon.topK(...rowsArguments(table), firstRow, queries, count, k, ...lists, values, indices),
    );
  }

  scanLists(job: ListScanJob): void {
    const { table, ids, starts, ends, members, splits, queries, count, k, exclude, values, indices } = job;
    const lists = [ids, starts, ends, members, splits] as const;
    run({ table, bags: { values: NO_IDS } }, () =>
      this.addon.scanLists(
        ...rowsArguments(table),
        ...lists,
        ...([queries, count, k] as const),
        ...listsArguments(exclude),
        ...([values, indices] as const),
      ),
    );
  }

  rankRows({ table, ids, queries, count, candidates, m, k, values, indices }: RankJob): void {
    run({ table, bags: { values: candidates } }, () =>
      this.addon.rankRows(...rowsArguments(table), ids, queries, count, candidates, m, k, values, indices),
    );
  }

  foldIn({ table, bags: { values, rowSplits, weights }, regularization, gram, out }: FoldInJob): void {
    run({ table, bags: { values } }, () =>
      this.addon.foldIn(...rowsArguments(table), values, rowSplits, weights, regularization, gram, out),
    );
  }

  partitionCsr(request: CsrRequest): CsrParts {
    const { features, cores, shards, samples, capacity } = request;
    const room = csrRoom(request, (length) => this.allocate(length));
    const { rowPointers, sampleIds, tokenIds, gains, idCounts, uniqueIdCounts } = room;
    const numbers = Int32Array.from(features.flatMap(featureNumbers));
    const ids = [features.map((each) => each.values), features.map((each) => each.rowSplits)] as const;
    const weights = features.map((each) => each.weights);
    const nnz = features.reduce((sum, { values }) => sum + values.length, 0);
    try {
      const used = this.addon.partitionCsr(
        ...([...ids, weights, numbers, cores, shards, samples, capacity] as const),
        ...([rowPointers, sampleIds, tokenIds, gains, idCounts, uniqueIdCounts] as const),
      );
      return csrParts(room, used);
    } catch (error) {
      throw ofFeature(translated(error, 0, nnz), request);
    }
  }
}
