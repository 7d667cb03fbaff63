/**
 * The kernels as functions of typed arrays: one interface, several implementations (reference, native, wasm); the tables
 * that they take, of any codec, and the errors that they end with.
 *
 * Everything arrives validated (sizes agree, row splits start at 0, never fall and end at the number of values), yet
 * an implementation never reads or writes outside the arrays whatever it is given. Ids are checked by the kernels.
 */
import { brand } from '../base/per_process.js';
import type { Combiner, OutOfRange } from '../base/types.js';
import type { Codec, Words } from '../codecs/codec.js';
import { FLOAT32 } from '../codecs/float32.js';
import { strayPosition } from '../ids/id_out_of_range.js';
import type { UpdateName } from '../rules/rules.js';
import { ValueError, described, RuntimeError } from '../base/errors.js';

/** A table on the host, row-major: [rows, codec.words(dim)]. */
export interface HostTable<Data extends Words = Words> {
  readonly codec: Codec;
  readonly data: Data;
  readonly rows: number;
  readonly dim: number;
}

/** A table of float32, [rows, dim]. */
export function floatTable(data: Float32Array, rows: number, dim: number): HostTable<Float32Array> {
  return { codec: FLOAT32, data, rows, dim };
}

/** te_status of custom-ops/kernels/embedding.h. */
export interface KernelStatus {
  readonly code: number;
  readonly id: number;
  readonly position: number;
}

/** te_code of custom-ops/kernels/embedding.h. */
const ID_OUT_OF_RANGE = 1;
const BAD_SPLITS = 2;

/** The error for a status other than 0, of a call on a table of `rows` rows and `nnz` ids. */
export function kernelError({ code, id, position }: KernelStatus, rows: number, nnz: number): Error {
  if (code === ID_OUT_OF_RANGE) return new IdOutOfRange(id, position, rows);
  if (code === BAD_SPLITS) {
    const expected = `row splits that start at 0, never fall and end at ${nnz}`;
    return new ValueError('rowSplits', expected, described(`a wrong one at position ${position}`));
  }
  return new RuntimeError('kernel', 'arguments that the kernel takes', described(`code ${code} from the kernel`));
}

/** Out-of-memory error for `what`, numbers of 4 bytes in this shape; `argument` is the one that their size comes from. */
export function tooLarge(argument: string, what: string, shape: readonly number[], note?: string): ValueError {
  const bytes = BigInt(shape.reduce((product, length) => product * length, 4));
  const received = described(`${what} of shape [${shape.join(', ')}] (${bytes} bytes)`);
  return new ValueError(argument, `${what} that fit into memory`, received, note);
}

/** How errors end that tell of full memory: of `tooLarge` and TensorFlow, and of WebAssembly's allocators. */
const FULL = /(that fit into memory|which is what the WebAssembly memory still holds)$/;

/** Whether there was no memory for numbers of some shape. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ValueError && FULL.test(error.expected);
}

/** Runs `allocate`; engines say with a bare RangeError that there is no memory. */
export function fitting<T>(argument: string, what: string, shape: readonly number[], allocate: () => T): T {
  try {
    return allocate();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooLarge(argument, what, shape);
  }
}

/** Zeros in this shape for a kernel to fill. */
export function newFloats(argument: string, what: string, shape: readonly number[]): Float32Array {
  const length = shape.reduce((product, each) => product * each, 1);
  return fitting(argument, what, shape, () => new Float32Array(length));
}

/** One lookup among many. */
export interface HostLookup {
  readonly table: HostTable;
  readonly bags: HostBags;
  readonly options: BagOptions;
  /** Written: [batch * dim]. */
  readonly pooled: Float32Array;
}

/** One step of a table among those of many. */
export interface HostStep {
  /** Of a codec that trains; one that rounds does it by the key in `hyper`. */
  readonly table: HostTable;
  readonly slots: readonly Float32Array[];
  readonly gradient: Float32Array;
  readonly bags: HostBags;
  readonly options: BagOptions;
  readonly hyper: Float32Array;
  /**
   * Where uses of the table begin that lie one after the other in `bags` and `gradient`: those from bag useStarts[k] on
   * belong to use k + 1. Bit by bit the step over the sum of what `rowGradients` gives for each use. null: there is one.
   */
  readonly useStarts: Int32Array | null;
}

/** The ids of a batch: bag b holds values[rowSplits[b] .. rowSplits[b + 1]). */
export interface HostBags {
  readonly values: Int32Array; // [nnz]
  readonly rowSplits: Int32Array; // [batch + 1]
  readonly weights: Float32Array | null; // [nnz]
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
  readonly implementation: ImplementationName | 'tensorflow' | 'webgpu' | 'generic';
  readonly instructionSet: string; // 'avx512', 'avx2', 'neon', 'simd128', 'scalar', 'javascript', ...
  readonly threads: number;
  /** WebAssembly: why one thread works though more were asked for. */
  readonly oneThreadBecause?: string;
}

export interface KernelSet {
  readonly name: ImplementationName;
  info(): KernelInfo;
  setThreads(threads: number): void;
  /** Zeros in memory that suits tables of this implementation. */
  allocate(length: number): Float32Array;
  /** Pooled rows, written into `pooled` of each. */
  lookUp(lookups: readonly HostLookup[]): void;
  /** Gradient of the pooled rows with respect to a table of float32; `table.data` is read only when maxNorm > 0. */
  rowGradients(
    gradient: Float32Array,
    bags: HostBags,
    table: HostTable<Float32Array>,
    options: BagOptions,
  ): RowGradients;
  /** Gradient with respect to the per-id weights, [nnz], written into `out`; `bags.weights` is set. */
  weightsGradient(
    table: HostTable,
    gradient: Float32Array,
    bags: HostBags,
    options: BagOptions,
    out: Float32Array,
  ): void;
  /**
   * One exact step of each table, in place in table and slots; every touched row is updated once. Nothing is written
   * where an id names no row.
   */
  step(optimizer: UpdateName, steps: readonly HostStep[]): void;
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

/** The first id outside a table of so many rows, where that is an error; else null. */
export function firstOutOfRange(
  values: Int32Array,
  rows: number,
  { outOfRange }: Pick<BagOptions, 'outOfRange'>,
): IdOutOfRange | null {
  const position = outOfRange === 'zero' ? -1 : strayPosition(values, rows);
  return position < 0 ? null : new IdOutOfRange(values[position]!, position, rows);
}

/** Throws IdOutOfRange for the first id outside a table of so many rows, unless such ids count as zeros. */
export function checkIds(values: Int32Array, rows: number, options: Pick<BagOptions, 'outOfRange'> = SINGLE_ROW): void {
  const stray = firstOutOfRange(values, rows, options);
  if (stray !== null) throw stray;
}
