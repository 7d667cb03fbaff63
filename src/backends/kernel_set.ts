/**
 * The kernels as functions of typed arrays: one interface, several implementations (reference, native, wasm).
 *
 * Everything arrives validated (sizes agree, row splits start at 0, never fall and end at the number of values), yet
 * an implementation never reads or writes outside the arrays whatever it is given. Ids are checked by the kernels.
 */
import { brand } from '../base/brand.js';
import type { Combiner, OutOfRange } from '../base/types.js';
import type { OptimizerName } from '../rules/rules.js';
import type { PackedTable } from './packed/packed_table.js';
import type { PartitionCsr } from './sparse_core.js';

/** One lookup among many. */
export interface HostLookup {
  readonly table: HostTable | PackedTable;
  readonly bags: HostBags;
  readonly options: BagOptions;
  /** Written: [batch * dim]. */
  readonly pooled: Float32Array;
}

/** One step of a table among those of many. */
export interface HostStep {
  /** Rows of float16 are stepped as float32, then rounded stochastically by the key in `hyper`. */
  readonly table: HostTable | PackedTable;
  readonly slots: readonly Float32Array[];
  readonly gradient: Float32Array;
  readonly bags: HostBags;
  readonly options: BagOptions;
  readonly hyper: Float32Array;
  /**
   * Where uses of the table begin that lie one after the other in `bags` and `gradient`: those from bag useStarts[k] on
   * belong to use k + 1. Bit by bit the step over the sum of what `rowGradients` gives for each use. null: there is one,
   * as of packed rows.
   */
  readonly useStarts: Int32Array | null;
}

/** out [batch, m, n] = A B, and then a bias and relu; one matrix may serve a whole batch. */
export interface MatrixProduct {
  readonly a: Float32Array;
  readonly b: Float32Array;
  readonly bias: Float32Array | null; // [n]
  readonly out: Float32Array;
  readonly batch: number;
  readonly batchA: number; // 1 or batch
  readonly batchB: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly relu: boolean;
}

/** The ids of a batch: bag b holds values[rowSplits[b] .. rowSplits[b + 1]). */
export interface HostBags {
  readonly values: Int32Array; // [nnz]
  readonly rowSplits: Int32Array; // [batch + 1]
  readonly weights: Float32Array | null; // [nnz]
}

/** A rank-2 float32 matrix, row-major. */
export interface HostTable {
  readonly data: Float32Array; // [rows * dim]
  readonly rows: number;
  readonly dim: number;
}

/** How the rows of a bag are looked up and combined. */
export interface BagOptions {
  readonly combiner: Combiner;
  readonly outOfRange: OutOfRange;
  readonly maxNorm: number; // 0: off
  /** Checks ids that already lie on a GPU too, which reads them back; elsewhere ids are always checked. */
  readonly validate?: boolean;
}

/** For bags of one id: each is its one row, as it is. */
export const SINGLE_ROW: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

/** One entry per touched row, ids ascending. */
export interface RowGradients {
  readonly uniqueIds: Int32Array; // [u]
  readonly rowGradients: Float32Array; // [u * dim]
}

export type ImplementationName = 'native' | 'wasm' | 'reference';
/** What may be asked for; `auto`: the best one there is. */
export type KernelChoice = 'auto' | ImplementationName;

/** What runs: shown by `backendInfo()`. */
export interface KernelInfo {
  readonly implementation: ImplementationName | 'tensorflow' | 'generic';
  readonly instructionSet: string; // 'avx512', 'avx2', 'neon', 'simd128', 'scalar', 'javascript', ...
  readonly threads: number;
  /** WebAssembly: why one thread works though more were asked for. */
  readonly oneThreadBecause?: string;
}

/** What an implementation may offer besides, for models: see `offers`. */
export interface ModelKernels {
  /** Ids as SparseCores take them. The reference has one of its own, which comes with the TPU embedding API. */
  readonly partitionCsr: PartitionCsr;
  /** Products of matrices, for dense layers. */
  matMul(product: MatrixProduct): void;
}

/** Whether an implementation has a kernel which not all have. */
export function offers<K extends keyof ModelKernels>(
  set: KernelSet,
  kernel: K,
): set is KernelSet & Pick<ModelKernels, K> {
  return kernel in set;
}

export interface KernelSet {
  readonly name: ImplementationName;
  info(): KernelInfo;
  setThreads(threads: number): void;
  /** Zeros in memory that suits tables of this implementation. */
  allocate(length: number): Float32Array;
  /** Pooled rows, written into `pooled` of each. */
  lookUp(lookups: readonly HostLookup[]): void;
  /** Gradient of the pooled rows with respect to the table; `table.data` is read only when maxNorm > 0. */
  rowGradients(gradient: Float32Array, bags: HostBags, table: HostTable, options: BagOptions): RowGradients;
  /** Gradient with respect to the per-id weights, [nnz], written into `out`; `bags.weights` is set. */
  weightsGradient(
    table: HostTable | PackedTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void;
  /**
   * One exact step of each table, in place in table and slots; every touched row is updated once. Nothing is written
   * where an id names no row.
   */
  step(optimizer: OptimizerName, steps: readonly HostStep[]): void;
}

/**
 * Thrown by implementations for an id outside [0, rows); `ops/` turns it into a ValueError.
 */
export class IdOutOfRange extends Error {
  static {
    brand(this, 'IdOutOfRange');
  }
  constructor(
    readonly id: number,
    readonly position: number,
    readonly rows: number,
  ) {
    super(`values[${position}] = ${id} is not in [0, ${rows})`);
  }
}
