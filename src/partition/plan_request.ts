/** What the planner is asked for: the arguments of `planEmbedding`, read and checked. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkChoice, readOptions } from '../base/options.js';
import { readNetwork, type PlanNetwork, type PlanNetworkArgs } from './cluster/network.js';
import { DEFAULT_BATCH, readMachine, type PlanMachine } from './machine.js';
import { STRATEGY_NAMES, type StrategyName } from './plan.js';
import { readTables, type PlanTable, type PlanTableArgs } from './plan_table.js';

/** How the rows of a row-sliced table are dealt out. */
export type RowSharding = 'range' | 'modulo';

/**
 * What the planner and layers ask for alike. Thresholds count elements; null is off, for columns automatic.
 * `D`: the value of `dpInput`, where it is known.
 */
export interface PlacementArgs<D extends boolean = boolean> {
  /** Who goes where: `'basic'` (default), `'memory_balanced'`, `'memory_optimized'` or `'cost_balanced'`. */
  strategy?: StrategyName | undefined;
  /** Tables above it are cut by columns; null (default) cuts only where there are fewer tables than devices. */
  columnSliceThreshold?: number | null | undefined;
  /** Tables of this size and above are cut by rows; null (default): none. */
  rowSliceThreshold?: number | null | undefined;
  /** Tables up to this size are copied to each device; null (default): none. */
  dataParallelThreshold?: number | null | undefined;
  /**
   * Bytes of tables that a device has room for; larger shards stay in the memory of the host. null (default) is no
   * limit, 0 leaves all table-parallel shards to the host.
   */
  deviceMemory?: number | null | undefined;
  /** Whether each device gets its part of the batch of all inputs (default); else whole batches of its own inputs. */
  dpInput?: D | undefined;
  /** How rows of a table that is cut by rows are dealt out: `'range'` (default) or `'modulo'`. */
  rowSharding?: RowSharding | undefined;
  /**
   * Whether a table is cut by rows when there are too few pieces for all devices (default: true); else that is a
   * ValueError.
   */
  rowFallback?: boolean | undefined;
  /** Ids per sample of each input; 1 by default. */
  hotness?: readonly number[] | null | undefined;
  /** Samples of a step, over all devices; 4096 by default. */
  batchSize?: number | undefined;
}

/** The names of `PlacementArgs`. */
export const PLACEMENT_FIELDS = [
  'strategy',
  'columnSliceThreshold',
  'rowSliceThreshold',
  'dataParallelThreshold',
  'deviceMemory',
  'dpInput',
  'rowSharding',
  'rowFallback',
  'hotness',
  'batchSize',
] as const satisfies readonly (keyof PlacementArgs)[];

/** Arguments of `planEmbedding`. */
export interface PlanEmbeddingArgs extends PlacementArgs {
  tables: readonly PlanTableArgs[];
  /** Table of each input; by default one input for each table. */
  inputTableMap?: readonly number[] | null | undefined;
  /** Number of devices. */
  worldSize: number;
  /** What `predicted` counts with; by default what TorchRec's planner 1.0 assumes: 897 GB/s, 51 GB/s, 600 GB/s. */
  machine?: Partial<PlanMachine> | null | undefined;
  /** Devices are servers that clients reach over this network: what `cluster` counts with; null (default): none. */
  network?: PlanNetworkArgs | null | undefined;
}

export interface PlanRequest {
  readonly tables: readonly PlanTable[];
  readonly inputTableMap: readonly number[];
  readonly worldSize: number;
  readonly strategy: StrategyName;
  readonly columnSliceThreshold: number | null;
  readonly rowSliceThreshold: number | null;
  readonly dataParallelThreshold: number | null;
  readonly deviceMemory: number | null;
  readonly dpInput: boolean;
  readonly rowSharding: RowSharding;
  readonly rowFallback: boolean;
  readonly hotness: readonly number[];
  readonly batchSize: number;
  readonly machine: PlanMachine;
  /** null: devices are no servers. */
  readonly network: PlanNetwork | null;
}

const FIELDS = ['tables', 'inputTableMap', 'worldSize', ...PLACEMENT_FIELDS, 'machine', 'network'] as const;
const MOST_DEVICES = 65536;

function wholeNumber(value: unknown, argument: string, most: number): number {
  const expected = `a whole number from 1 to ${most}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isInteger(value) || value < 1 || value > most) throw new ValueError(argument, expected, value);
  return value;
}

function amount(value: unknown, argument: string): number | null {
  if (value === undefined || value === null) return null;
  const expected = 'a finite number >= 0 or null';
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isFinite(value) || value < 0) throw new ValueError(argument, expected, value);
  return value;
}

function flag(value: unknown, argument: string, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw new ArgumentTypeError(argument, 'true or false', value);
  return value;
}

function numbers(value: unknown, argument: string, expected: string): number[] {
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (!isList) throw new ArgumentTypeError(argument, expected, value);
  return Array.from(value as ArrayLike<unknown>, (item, place) => {
    if (typeof item !== 'number') throw new ArgumentTypeError(`${argument}[${place}]`, 'a number', item);
    return item;
  });
}

function readMap(value: unknown, tables: number): number[] {
  if (value === undefined || value === null) return Array.from({ length: tables }, (_, table) => table);
  const map = numbers(value, 'inputTableMap', 'a list with the number of a table for each input, or null');
  if (map.length === 0) throw new ValueError('inputTableMap', 'at least one input', described('none'));
  map.forEach((table, input) => {
    if (!Number.isInteger(table) || table < 0 || table >= tables) {
      throw new ValueError(`inputTableMap[${input}]`, `the number of a table, 0 to ${tables - 1}`, table);
    }
  });
  return map;
}

function readHotness(value: unknown, inputs: number): number[] {
  if (value === undefined || value === null) return new Array<number>(inputs).fill(1);
  const hotness = numbers(value, 'hotness', 'a list with the ids per sample of each input, or null');
  if (hotness.length !== inputs) {
    const received = described(`${hotness.length} for ${inputs} inputs`);
    throw new ValueError('hotness', 'as many numbers as there are inputs', received);
  }
  hotness.forEach((ids, input) => {
    if (!Number.isFinite(ids) || ids < 0) throw new ValueError(`hotness[${input}]`, 'a finite number >= 0', ids);
  });
  return hotness;
}

/** Reads and checks the arguments; one device needs neither a strategy nor row slices nor copies. */
export function readRequest(args: unknown): PlanRequest {
  const given = readOptions<PlanEmbeddingArgs>(args, FIELDS, 'args');
  const tables = readTables(given.tables);
  const inputTableMap = readMap(given.inputTableMap, tables.length);
  const worldSize = wholeNumber(given.worldSize, 'worldSize', MOST_DEVICES);
  const strategy = given.strategy === undefined ? 'basic' : checkChoice(given.strategy, 'strategy', STRATEGY_NAMES);
  const rowSliceThreshold = amount(given.rowSliceThreshold, 'rowSliceThreshold');
  const dataParallelThreshold = amount(given.dataParallelThreshold, 'dataParallelThreshold');
  const dpInput = flag(given.dpInput, 'dpInput', true);
  const spread = worldSize > 1 && dpInput;
  return {
    tables,
    inputTableMap,
    worldSize,
    strategy: worldSize === 1 ? 'basic' : strategy,
    columnSliceThreshold: amount(given.columnSliceThreshold, 'columnSliceThreshold'),
    rowSliceThreshold: spread ? rowSliceThreshold : null,
    dataParallelThreshold: spread ? dataParallelThreshold : null,
    deviceMemory: amount(given.deviceMemory, 'deviceMemory'),
    dpInput,
    rowSharding:
      given.rowSharding === undefined ? 'range' : checkChoice(given.rowSharding, 'rowSharding', ['range', 'modulo']),
    rowFallback: flag(given.rowFallback, 'rowFallback', true),
    hotness: readHotness(given.hotness, inputTableMap.length),
    batchSize: given.batchSize === undefined ? DEFAULT_BATCH : wholeNumber(given.batchSize, 'batchSize', 2 ** 31 - 1),
    machine: readMachine(given.machine),
    network: given.network === undefined || given.network === null ? null : readNetwork(given.network),
  };
}
