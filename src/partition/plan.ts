/** A plan: which device holds which rows and columns of which table. Plain data, with three methods. */
import type { Combiner } from '../base/types.js';
import type { ClusterPrediction } from './cluster/cluster_data.js';
import type { PlanMachine } from './machine.js';

/** Names of the strategies that place tables on devices. */
export type StrategyName = 'basic' | 'memory_balanced' | 'memory_optimized' | 'cost_balanced';
export const STRATEGY_NAMES: readonly StrategyName[] = [
  'basic',
  'memory_balanced',
  'memory_optimized',
  'cost_balanced',
];

/** From where to where: the first, and the one after the last. */
export type Span = [start: number, end: number];

/** Numbers sorted by the three ways to hold a table: a copy on each device, columns on some, rows on all. */
export interface Groups {
  dataParallel: number[];
  tableParallel: number[];
  rowSlice: number[];
}
export type GroupName = keyof Groups;
/** The order in which the outputs of the groups follow one another before they are put back in the caller's order. */
export const GROUP_NAMES: readonly GroupName[] = ['dataParallel', 'tableParallel', 'rowSlice'];

/** Adjacent columns of one table, all its rows. */
export interface TableShard {
  /** Number of the table in the caller's list. */
  table: number;
  columns: Span;
}

/** One weight on a device: the rows of one shard, or of several of equal width one below the other. */
export interface PhysicalTable {
  inputDim: number;
  outputDim: number;
  combiner: Combiner | null;
  /** Held in the memory of the host, because the device's is full. */
  cpuOffload: boolean;
}

/** What one device holds of the table-parallel group. Inputs and tables count within that group unless named global. */
export interface TableParallelRank {
  tableIds: number[];
  shards: TableShard[];
  inputIds: number[];
  inputIdsGlobal: number[];
  /** Physical table of each input, and the rows that precede its table there. */
  localMap: number[];
  inputOffsets: number[];
  physicalTables: PhysicalTable[];
  /** Shards of each physical table, and where the rows of each begin; the last entry is the number of rows. */
  concatGroups: number[][];
  weightOffsets: number[][];
  elements: number;
}

/** Adjacent rows of one table: the local row is `id + inputOffset`. */
export interface RowRange {
  table: number;
  rows: Span;
  inputOffset: number;
  inputDim: number;
  outputDim: number;
}

/** Every `divisor`-th row of one table: those with `id mod divisor = remainder`; the local row is `id div divisor`. */
export interface RowModulo {
  table: number;
  modulo: { divisor: number; remainder: number };
  inputDim: number;
  outputDim: number;
}
export type RowShard = RowRange | RowModulo;

/** Load of a device in one training step, as predicted from hotness, batch and machine. */
export interface PredictedLoad {
  seconds: number;
  /** Rows of tables read. */
  lookups: number;
  /** Bytes of tables in the device's own memory. */
  bytesMemory: number;
  /** Bytes of pooled rows, and of gradients of copied tables, sent to other devices. */
  bytesOut: number;
}

/** What one device holds. */
export interface RankPlan {
  tableParallel?: TableParallelRank;
  rowSlice?: RowShard[];
  predicted?: PredictedLoad;
}

/** How the table-parallel group is cut, and how its outputs find together. Tables and inputs count within the group. */
export interface TableParallelPlan {
  sliceWidthsPerTable: number[][];
  /** Tables whose slices go to each device, before slices of one table on one device are merged. */
  dividedIds: number[][];
  slicedOutRangesBeforeMerge: Span[];
  /** Outputs to be joined along their columns, as places in the list of outputs at the time of joining. */
  slicedOutRanges: Span[];
  /** Widths of all outputs in the order of devices. */
  widthsListFlat: number[];
  /** For each output in the order of inputs, its place in `widthsListFlat`. */
  revTpIds: number[];
}

export interface DataParallelTable {
  table: number;
  inputDim: number;
  outputDim: number;
}

/** The newest version of stored plans. */
export const PLAN_VERSION = 1;

/** The plan as data: what `toJSON` gives and `readPlan` takes. */
export interface PlanData {
  /** Of the format, in plans that `toJSON` gives; none is 1. */
  version?: number;
  effectiveStrategy: StrategyName;
  effectiveRowSliceThreshold: number | null;
  effectiveDataParallelThreshold: number | null;
  tableGroups: Groups;
  inputGroups: Groups;
  /** For each input of a group, the place of its table within the group. */
  mapGroups: Groups;
  /** For each input, the place of its output when the groups' outputs follow one another. */
  revGroupIds: number[];
  /** Absent where no table is table-parallel. */
  tableParallel?: TableParallelPlan;
  /** Absent where no table is data-parallel. */
  dataParallelTables?: DataParallelTable[];
  ranks: RankPlan[];
  /** What `predicted` of the ranks counts with; absent where it is 4096 samples and the default machine. */
  predictedFor?: { batchSize: number; machine: PlanMachine };
  /** A step where devices are servers of a network; absent where none was given. */
  cluster?: ClusterPrediction;
  /** Names of the tables; absent where none was named. */
  tableNames?: string[];
  /** What was decided otherwise than asked, and why; absent where nothing was. */
  notes?: string[];
}

/** A plan with its methods, which are not among its keys: it compares, copies and travels as plain data. */
export interface EmbeddingPlan extends PlanData {
  /**
   * The plan as a table of lines: device, table, rows, columns, elements, bytes, share of all elements.
   *
   * @returns The table.
   */
  toString(): string;
  /**
   * A copy of the plan as plain data.
   *
   * @returns The copy.
   */
  toJSON(): PlanData;
}

/** Whether rows are dealt out one by one instead of in ranges. */
export function isModulo(shard: RowShard): shard is RowModulo {
  return 'modulo' in shard;
}

/** Number of columns of a piece of a table. */
export function widthOf({ columns }: { readonly columns: readonly [number, number] }): number {
  return columns[1] - columns[0];
}
