/** The C core on typed arrays, through the addon. Knows nothing of Node, so that workers bundle it for any runtime. */
import { COMBINERS, OPTIMIZER_NAMES, OUT_OF_RANGE, type OptimizerName } from '../../types.js';
import {
  IdOutOfRange,
  type BagOptions,
  type HostBags,
  type HostTable,
  type KernelInfo,
  type KernelSet,
  type RowGradients,
} from '../kernel_set.js';
import type { Addon, BagArguments } from './addon.js';

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

/** What the addon attaches to its errors. */
interface AddonError {
  readonly code?: unknown;
  readonly id?: unknown;
  readonly position?: unknown;
}

/** Runs a kernel of the addon; an id out of range becomes IdOutOfRange. */
function run<T>(rows: number, kernel: () => T): T {
  try {
    return kernel();
  } catch (error) {
    const { code, id, position } = error as AddonError;
    if (code !== 'TE_ID_OUT_OF_RANGE') throw error;
    throw new IdOutOfRange(id as number, position as number, rows);
  }
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
    const buffer = new ArrayBuffer(bytes + (bytes < LARGE_TABLE ? LINE : HUGE_PAGE));
    return new Float32Array(buffer, this.addon.tableOffset(buffer, bytes), length);
  }

  embeddingBag(table: HostTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
    const { data, rows, dim } = table;
    run(rows, () => this.addon.embeddingBag(data, rows, dim, ...bagArguments(bags, options), pooled));
  }

  embeddingBagGrad(gradient: Float32Array, bags: HostBags, table: HostTable, options: BagOptions): RowGradients {
    const { rows, dim } = table;
    const data = options.maxNorm > 0 ? table.data : null;
    const [uniqueIds, rowGradients] = run(rows, () =>
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
    run(rows, () => this.addon.embeddingBagWeightsGrad(data, rows, dim, ...bagArguments(bags, options), gradient, out));
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
    const { data, rows, dim } = table;
    const [slot0 = null, slot1 = null] = slots;
    const form = bagArguments(bags, options);
    const name = OPTIMIZER_NAMES.indexOf(optimizer);
    run(rows, () => this.addon.sparseApply(data, rows, dim, ...form, name, slot0, slot1, gradient, hyper, useStarts));
  }

  sparseApplyUses(...step: Parameters<Required<KernelSet>['sparseApplyUses']>): void {
    this.sparseApply(...step);
  }
}
