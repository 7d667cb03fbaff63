/** The C core on typed arrays, through the addon. Knows nothing of Node, so that workers bundle it for any runtime. */
import { ValueError, described } from '../../base/errors.js';
import { COMBINERS, OUT_OF_RANGE, PACKED_STORAGES } from '../../base/types.js';
import { UPDATE_NAMES, slotArguments, type UpdateName } from '../../rules/rules.js';
import {
  type BagOptions,
  type HostBags,
  type HostLookup,
  type HostStep,
  type HostTable,
  isOfFloats,
  type OfFloats,
  type KernelInfo,
  type KernelSet,
  type RowGradients,
  kernelError,
  type KernelStatus,
  fitting,
  type PackedTable,
} from '../kernel_set.js';
import type { MatrixProduct, ModelKernels } from '../model_kernels.js';
import { csrParts, csrRoom, featureNumbers, ofFeature, type CsrParts, type CsrRequest } from '../sparse_core.js';
import type { FoldInJob, IdLists, TopKJob } from '../ranking.js';
import type {
  Addon,
  BagArguments,
  ListsArguments,
  LookupArguments,
  PackedArguments,
  RowsArguments,
  StepArguments,
} from './addon.js';

const LINE = 64;
const HUGE_PAGE = 2 ** 21;
/** From this many bytes on a table gets huge pages. */
const LARGE_TABLE = 2 ** 22;

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

function packedArguments({ words, storage, rows, dim }: PackedTable): PackedArguments {
  return [words, PACKED_STORAGES.indexOf(storage), rows, dim];
}

function rowsArguments(table: HostTable | PackedTable): RowsArguments {
  if ('words' in table) return packedArguments(table);
  return [table.data, -1, table.rows, table.dim];
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

/** Runs a kernel of the addon on a table of `rows` rows. */
function run<T>(rows: number, nnz: number, kernel: () => T): T {
  try {
    return kernel();
  } catch (error) {
    throw translated(error, rows, nnz);
  }
}

/** Runs a kernel of the addon on several tables. */
function runMany(tables: readonly Pick<HostLookup, 'table' | 'bags'>[], kernel: () => void): void {
  try {
    kernel();
  } catch (error) {
    const at = tables[(error as AddonError).entry ?? -1];
    throw translated(error, at?.table.rows ?? 0, at?.bags.values.length ?? 0);
  }
}

function stepArguments(optimizer: UpdateName, step: HostStep & OfFloats): StepArguments {
  const { table, slots, gradient, bags, options, hyper, useStarts } = step;
  const ids = bagArguments(bags, options);
  const tail = [...slotArguments(slots, null), gradient, hyper, useStarts ?? undefined] as const;
  return [table.data, table.rows, table.dim, ...ids, UPDATE_NAMES.indexOf(optimizer), ...tail];
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
    const bytes = 4 * length;
    const room = bytes + (bytes < LARGE_TABLE ? LINE : HUGE_PAGE);
    const buffer = fitting('table', 'values', [length], () => new ArrayBuffer(room));
    return new Float32Array(buffer, this.addon.tableOffset(buffer, bytes), length);
  }

  lookUp(lookups: readonly HostLookup[]): void {
    const plain = lookups.filter(isOfFloats);
    for (const { table, bags, options, pooled } of lookups) {
      if ('data' in table) continue;
      run(table.rows, bags.values.length, () =>
        this.addon.packedBag(...packedArguments(table), ...bagArguments(bags, options), pooled),
      );
    }
    const calls = plain.map(({ table, bags, options, pooled }): LookupArguments => {
      return [table.data, table.rows, table.dim, ...bagArguments(bags, options), pooled];
    });
    if (calls.length === 1)
      run(plain[0]!.table.rows, plain[0]!.bags.values.length, () => this.addon.embeddingBag(...calls[0]!));
    else if (calls.length > 1) runMany(plain, () => this.addon.embeddingBags(calls));
  }

  rowGradients(gradient: Float32Array, bags: HostBags, table: HostTable, options: BagOptions): RowGradients {
    const { rows, dim } = table;
    const data = options.maxNorm > 0 ? table.data : null;
    const [uniqueIds, rowGradients] = run(rows, bags.values.length, () =>
      this.addon.embeddingBagGrad(gradient, data, rows, dim, ...bagArguments(bags, options)),
    );
    return { uniqueIds, rowGradients };
  }

  weightsGradient(
    table: HostTable | PackedTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void {
    const ids = bagArguments(bags, options);
    run(table.rows, bags.values.length, () => {
      if ('words' in table) this.addon.packedBagWeightsGrad(...packedArguments(table), ...ids, gradient, out);
      else this.addon.embeddingBagWeightsGrad(table.data, table.rows, table.dim, ...ids, gradient, out);
    });
  }

  step(optimizer: UpdateName, steps: readonly HostStep[]): void {
    const plain = steps.filter(isOfFloats);
    const calls = plain.map((step) => stepArguments(optimizer, step));
    if (calls.length === 1)
      run(plain[0]!.table.rows, plain[0]!.bags.values.length, () => this.addon.sparseApply(...calls[0]!));
    else if (calls.length > 1) runMany(plain, () => this.addon.sparseApplyMany(calls));
    for (const step of steps) if ('words' in step.table) this.stepPacked(optimizer, step, step.table);
  }

  private stepPacked(optimizer: UpdateName, step: HostStep, table: PackedTable): void {
    const { slots, gradient, bags, options, hyper } = step;
    const tail = [UPDATE_NAMES.indexOf(optimizer), ...slotArguments(slots, null), gradient, hyper] as const;
    run(table.rows, bags.values.length, () =>
      this.addon.packedApply(...packedArguments(table), ...bagArguments(bags, options), ...tail),
    );
  }

  matMul({ a, b, bias, out, batch, batchA, batchB, m, n, k, transposeA, transposeB, relu }: MatrixProduct): void {
    this.addon.matMul(a, b, bias, out, batch, batchA, batchB, m, n, k, +transposeA, +transposeB, +relu);
  }

  topK({ table, firstRow, queries, count, k, exclude, only, values, indices }: TopKJob): void {
    const lists = [...listsArguments(exclude), ...listsArguments(only)] as const;
    run(table.rows, only?.values.length ?? 0, () =>
      this.addon.topK(...rowsArguments(table), firstRow, queries, count, k, ...lists, values, indices),
    );
  }

  foldIn({ table, bags: { values, rowSplits, weights }, regularization, gram, out }: FoldInJob): void {
    run(table.rows, values.length, () =>
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
      const used = run(0, nnz, () =>
        this.addon.partitionCsr(
          ...([...ids, weights, numbers, cores, shards, samples, capacity] as const),
          ...([rowPointers, sampleIds, tokenIds, gains, idCounts, uniqueIdCounts] as const),
        ),
      );
      return csrParts(room, used);
    } catch (error) {
      throw ofFeature(error, request);
    }
  }
}
