/** The addon as JavaScript sees it, and where it lies. Imported by the Node entry only. */
import type { ColumnKernels, KeyKernels, RowReads } from '../../base/platform.js';
import type { Words } from '../../codecs/codec.js';
import type { SlotArguments } from '../../rules/rules.js';
import { createRequire } from 'node:module';
import { builtAddonPath, packageRoot } from './addons_here.js';

/** Functions of custom-ops/hosts/node/functions.h. Enums are numbers, in the order of the arrays in types.ts. */
export interface Addon extends ColumnKernels, KeyKernels, RowReads {
  embeddingBag(...args: LookupArguments): void;
  /** The same for many tables. */
  embeddingBags(calls: readonly LookupArguments[]): void;
  embeddingBagGrad(
    gradient: Float32Array,
    table: Float32Array | null,
    codec: number,
    rows: number,
    dim: number,
    ...bags: BagArguments
  ): [uniqueIds: Int32Array, rowGradients: Float32Array];
  embeddingBagWeightsGrad(
    ...args: [...table: RowsArguments, ...bags: BagArguments, gradient: Float32Array, out: Float32Array] // written: out
  ): void;
  sparseApply(...args: StepArguments): void;
  /** The same for many tables, all with the same optimizer. */
  sparseApplyMany(calls: readonly StepArguments[]): void;
  matMul(
    a: Float32Array,
    b: Float32Array,
    bias: Float32Array | null,
    out: Float32Array, // written
    batch: number,
    batchA: number,
    batchB: number,
    m: number,
    n: number,
    k: number,
    transposeA: number, // 0 or 1, as the next two
    transposeB: number,
    relu: number,
  ): void;
  topK(
    ...args: [
      ...table: RowsArguments,
      firstRow: number,
      queries: Float32Array,
      n: number,
      k: number,
      ...exclude: ListsArguments,
      ...only: ListsArguments,
      values: Float32Array, // written
      indices: Int32Array, // written
    ]
  ): void;
  scanLists(
    ...args: [
      ...table: RowsArguments,
      ids: Int32Array,
      starts: Int32Array,
      ends: Int32Array,
      members: Int32Array,
      splits: Int32Array,
      queries: Float32Array,
      n: number,
      k: number,
      ...exclude: ListsArguments,
      values: Float32Array, // written
      indices: Int32Array, // written
    ]
  ): void;
  rankRows(
    ...args: [
      ...table: RowsArguments,
      ids: Int32Array | null,
      queries: Float32Array,
      n: number,
      candidates: Int32Array,
      m: number,
      k: number,
      values: Float32Array, // written
      indices: Int32Array, // written
    ]
  ): void;
  foldIn(
    ...args: [
      ...table: RowsArguments,
      values: Int32Array,
      rowSplits: Int32Array,
      weights: Float32Array | null,
      regularization: number,
      gram: Float32Array | null,
      out: Float32Array, // written
    ]
  ): void;
  /** Returns the slots in use. Lists have an entry for each feature, and `features` its `featureNumbers`. */
  partitionCsr(
    values: readonly Int32Array[],
    rowSplits: readonly Int32Array[],
    weights: readonly (Float32Array | null)[],
    features: Int32Array,
    cores: number,
    shards: number,
    samples: number,
    capacity: number,
    rowPointers: Int32Array, // written, as is all that follows
    sampleIds: Int32Array,
    tokenIds: Int32Array,
    gains: Float32Array,
    idCounts: Int32Array,
    uniqueIdCounts: Int32Array,
  ): number;
  /**
   * Bytes from the start of a buffer to where a table of `bytes` bytes should begin: a huge page, with a whole one to
   * spare, or a cache line, as far as there is room.
   */
  tableOffset(buffer: ArrayBuffer, bytes: number): number;
  setThreads(threads: number): number;
  getThreads(): number;
  /** Threads of kernels that are called from this JavaScript thread; 0: as many as for the process. */
  setOwnThreads(threads: number): number;
  /** Sets words[index] to 1 when this JavaScript environment ends, even by heap exhaustion; once per environment. */
  watchExit(words: Int32Array, index: number): void;
  instructionSet(): string;
  /** Names of the fields of te_hyper, in their order in memory. */
  hyperFields(): string[];
  /** Two names of one disk change places in one step; false where the system cannot do that. */
  exchangeFolders(a: string, b: string): boolean;
  /** The CRC-32C of what came before and these bytes; -1 where the processor has no instruction for it. */
  extendCrc32c(before: number, bytes: Uint8Array): number;
  /** 'registered', 'already', or why TensorFlow's ops are not there. */
  registerTensorFlow(): string;
  /** Tells the tensors that this library shares from those of another copy in the process; 0 without TensorFlow. */
  sharedTensorRegistry(): number;
  /** A key for a tensor that the op EmbeddingShareTensors is to share. */
  newSharedTensorKey(): number;
  /** Copies rows of a shared tensor; `at` and `stride` count its elements. RangeError where none is shared under the key. */
  readSharedTensor(key: number, at: number, stride: number, rows: number, columns: number, target: Float32Array): void;
  /** Copies rows to a shared tensor, which may not have other readers yet. */
  writeSharedTensor(key: number, at: number, stride: number, rows: number, columns: number, source: Float32Array): void;
  releaseSharedTensor(key: number): void;
  /**
   * Makes a graph that the op EmbeddingStep runs; returns its number. `definition`: a GraphDef; the names of nodes each
   * end in a line feed. Throws what TensorFlow finds wrong.
   */
  buildGraph(definition: Uint8Array, feeds: string, fetches: string, targets: string): number;
  /**
   * The first of the outputs `places`, each ended by a line feed, of a GraphDef whose shape its numbers decide; -1: none.
   * Throws what TensorFlow finds wrong.
   */
  unsizedPlace(definition: Uint8Array, places: string): number;
  releaseGraph(number: number): void;
  graphCount(): number;
  /**
   * Starts a server of TensorFlow as a ServerDef says; returns its target. It lives as long as the process. This and
   * sessions need registerTensorFlow first. Throws what TensorFlow says.
   */
  startServer(definition: Uint8Array): string;
  /**
   * A session on the server at `target`, `grpc://host:port`; nothing is contacted before its first runs. `config`: a
   * ConfigProto, `graph`: a GraphDef. Runs that take long are ended when nothing listens at host and port.
   */
  openSession(target: string, config: Uint8Array, graph: Uint8Array, host: string, port: number): number;
  /** Adds nodes, for groups that are started later. `mapped`: names of those that are there, each ended by a line feed. */
  extendSession(session: number, graph: Uint8Array, mapped: string): void;
  /** Never waits. Groups that have not begun end with code 1; all that were started can still be finished. */
  closeSession(session: number): void;
  /** Sessions that are open, threads of all that there were, groups that are not finished. */
  sessionInfo(): { sessions: number; threads: number; groups: number };
  /** Kernels that TensorFlow runs in this process, and snapshots of tables. */
  kernelsAtWork(): number;
  /**
   * Starts a group of runs, which go side by side, after those of earlier groups of the session; returns its number. What
   * they are fed is copied before it returns. RangeError for names that the graph does not have.
   */
  startRuns(session: number, runs: readonly SessionRun[]): number;
  /** Whether finishRuns would not wait. */
  runsAreDone(group: number): boolean;
  /**
   * Waits until a group has ended; its number stands for nothing afterwards. What a run fetches is written into the array
   * of its place in `into` where there is one; a RangeError, before anything is written, where that does not fit.
   */
  finishRuns(group: number, into: readonly (readonly (FetchTarget | null)[])[] | null): RunResult[];
  finishRunsAsync(group: number): Promise<RunResult[]>;
  /** Nobody asks for a group any more: it ends by itself, and its number stands for nothing. */
  forgetRuns(group: number): void;
}

/**
 * `options`: a RunOptions. Names each end in a line feed, and may end in `:<output>`; those of targets may not. `shapes`:
 * of each value its rank, then its sizes. `halves`: 1 for each Float32Array that is sent as float16, else 0.
 */
export type SessionRun = readonly [
  options: Uint8Array,
  feeds: string,
  values: readonly (Float32Array | Float64Array | Int32Array | Uint8Array | readonly string[])[],
  shapes: Int32Array,
  halves: Uint8Array,
  fetches: string,
  targets: string,
];

/** float16 is written as float32. */
export type FetchTarget = Float32Array | Float64Array | Int32Array | Uint8Array | BigInt64Array;

/** `code`: 0, or TensorFlow's number of the error that `message` tells. */
export interface RunResult {
  readonly code: number;
  readonly message: string;
  readonly ms: number;
  readonly values: (FetchTarget | string[])[];
  readonly shapes: Int32Array[];
}

/** `codec`: its number. */
export type RowsArguments = [table: Words, codec: number, rows: number, dim: number];
export type ListsArguments = [values: Int32Array | null, rowSplits: Int32Array | null];
export type BagArguments = [
  values: Int32Array,
  rowSplits: Int32Array,
  weights: Float32Array | null,
  combiner: number,
  outOfRange: number,
  maxNorm: number,
];

/** Written: pooled. */
export type LookupArguments = [...table: RowsArguments, ...bags: BagArguments, pooled: Float32Array];
/** Written: table and slots. */
export type StepArguments = [
  ...table: RowsArguments,
  ...bags: BagArguments,
  optimizer: number,
  ...slots: SlotArguments<Float32Array | null>,
  gradient: Float32Array,
  hyper: Float32Array,
  useStarts: Int32Array | undefined,
];

/** Names of the addon's functions: a library that lacks one was built from other sources. */
export const ADDON_FUNCTIONS: readonly (keyof Addon)[] = [
  'embeddingBag',
  'embeddingBagGrad',
  'embeddingBagWeightsGrad',
  'sparseApply',
  'embeddingBags',
  'sparseApplyMany',
  'matMul',
  'topK',
  'scanLists',
  'rankRows',
  'foldIn',
  'partitionCsr',
  'indexTexts',
  'findTexts',
  'indexNumbers',
  'findNumbers',
  'hashTexts',
  'hashNumbers',
  'splitTexts',
  'tableOffset',
  'setThreads',
  'getThreads',
  'setOwnThreads',
  'watchExit',
  'instructionSet',
  'hyperFields',
  'registerTensorFlow',
  'exchangeFolders',
  'extendCrc32c',
  'openRowFile',
  'rowFileIsDirect',
  'startReads',
  'finishReads',
  'closeRowFile',
  'findSlots',
  'sharedTensorRegistry',
  'newSharedTensorKey',
  'readSharedTensor',
  'writeSharedTensor',
  'releaseSharedTensor',
  'buildGraph',
  'unsizedPlace',
  'releaseGraph',
  'graphCount',
  'startServer',
  'openSession',
  'extendSession',
  'closeSession',
  'sessionInfo',
  'kernelsAtWork',
  'startRuns',
  'runsAreDone',
  'finishRuns',
  'finishRunsAsync',
  'forgetRuns',
];

/** Path of the addon that set-up builds, with TensorFlow's ops where it can; the file may be missing. */
export function addonPath(): string {
  return builtAddonPath(packageRoot());
}

/** Loads an addon. Throws where it is missing or does not suit this machine. */
export function loadAddon(path = addonPath()): Addon {
  return createRequire(import.meta.url)(path) as Addon;
}
