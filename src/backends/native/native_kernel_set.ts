/** The C core on typed arrays, through the addon. Knows nothing of Node, so that workers bundle it for any runtime. */
import { ValueError, described } from '../../base/errors.js';
import { COMBINERS, OUT_OF_RANGE, PACKED_STORAGES } from '../../base/types.js';
import { OPTIMIZER_NAMES, type OptimizerName } from '../../rules/rules.js';
import type {
  BagOptions,
  HostBags,
  HostLookup,
  HostStep,
  HostTable,
  KernelInfo,
  KernelSet,
  MatrixProduct,
  RowGradients,
} from '../kernel_set.js';
import { kernelError, type KernelStatus } from '../kernel_status.js';
import { fitting } from '../memory.js';
import { csrParts, csrRoom, featureNumbers, ofFeature } from '../csr_memory.js';
import type { CsrParts, CsrRequest } from '../sparse_core.js';
import type { PackedTable } from '../packed/packed_table.js';
import type { Addon, BagArguments, LookupArguments, PackedArguments, StepArguments } from './addon.js';

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
function run<T>(rows: number, { values }: { readonly values: ArrayLike<number> }, kernel: () => T): T {
  try {
    return kernel();
  } catch (error) {
    throw translated(error, rows, values.length);
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

function stepArguments(optimizer: OptimizerName, step: Omit<HostStep, 'useStarts'>): StepArguments {
  const { table, slots, gradient, bags, options, hyper } = step;
  const [slot0 = null, slot1 = null] = slots;
  const ids = bagArguments(bags, options);
  const { data, rows, dim } = table;
  return [data, rows, dim, ...ids, OPTIMIZER_NAMES.indexOf(optimizer), slot0, slot1, gradient, hyper, undefined];
}

export class NativeKernelSet implements KernelSet {
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

  embeddingBag(table: HostTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
    const { data, rows, dim } = table;
    run(rows, bags, () => this.addon.embeddingBag(data, rows, dim, ...bagArguments(bags, options), pooled));
  }

  embeddingBagGrad(gradient: Float32Array, bags: HostBags, table: HostTable, options: BagOptions): RowGradients {
    const { rows, dim } = table;
    const data = options.maxNorm > 0 ? table.data : null;
    const [uniqueIds, rowGradients] = run(rows, bags, () =>
      this.addon.embeddingBagGrad(gradient, data, rows, dim, ...bagArguments(bags, options)),
    );
    return { uniqueIds, rowGradients };
  }

  embeddingBagWeightsGrad(
    table: HostTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void {
    const { data, rows, dim } = table;
    run(rows, bags, () =>
      this.addon.embeddingBagWeightsGrad(data, rows, dim, ...bagArguments(bags, options), gradient, out),
    );
  }

  packedBag(table: PackedTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
    run(table.rows, bags, () =>
      this.addon.packedBag(...packedArguments(table), ...bagArguments(bags, options), pooled),
    );
  }

  packedBagWeightsGrad(
    table: PackedTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void {
    run(table.rows, bags, () =>
      this.addon.packedBagWeightsGrad(...packedArguments(table), ...bagArguments(bags, options), gradient, out),
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
    useStarts?: Int32Array,
  ): void {
    const call = stepArguments(optimizer, { table, slots, gradient, bags, options, hyper });
    call[14] = useStarts;
    run(table.rows, bags, () => this.addon.sparseApply(...call));
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
    const [slot0 = null, slot1 = null] = slots;
    const ids = bagArguments(bags, options);
    const step = [OPTIMIZER_NAMES.indexOf(optimizer), slot0, slot1, gradient, hyper] as const;
    run(table.rows, bags, () => this.addon.packedApply(...packedArguments(table), ...ids, ...step));
  }

  embeddingBags(lookups: readonly HostLookup[]): void {
    const calls = lookups.map(({ table, bags, options, pooled }): LookupArguments => {
      return [table.data, table.rows, table.dim, ...bagArguments(bags, options), pooled];
    });
    runMany(lookups, () => this.addon.embeddingBags(calls));
  }

  sparseApplyMany(optimizer: OptimizerName, steps: readonly HostStep[]): void {
    const calls = steps.map((step) => {
      const call = stepArguments(optimizer, step);
      if (step.useStarts !== null) call[14] = step.useStarts;
      return call;
    });
    runMany(steps, () => this.addon.sparseApplyMany(calls));
  }

  matMul({ a, b, bias, out, batch, batchA, batchB, m, n, k, transposeA, transposeB, relu }: MatrixProduct): void {
    this.addon.matMul(a, b, bias, out, batch, batchA, batchB, m, n, k, +transposeA, +transposeB, +relu);
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
      const used = run(0, { values: { length: nnz } }, () =>
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

  sparseApplyUses(...step: Parameters<Required<KernelSet>['sparseApplyUses']>): void {
    this.sparseApply(...step);
  }
}
