/** The planner: groups tables, places them on devices and lays out what each device holds. */
import { ValueError, described } from '../base/errors.js';
import { groupInputs, groupTables, rowFallbackTable, type Grouping } from './groups.js';
import { planCluster } from './cluster/plan_cluster.js';
import { DEFAULT_BATCH, isDefault } from './machine.js';
import type { EmbeddingPlan, GroupName, StrategyName } from './plan.js';
import { withMethods } from './plan_methods.js';
import { layOut } from './plan_layout.js';
import { readRequest, type PlanEmbeddingArgs, type PlanRequest } from './plan_request.js';
import { rankLoads, type RankLoad } from './rank_load.js';
import { basic } from './strategies/basic.js';
import { costBalanced, worseIn } from './strategies/cost_balanced.js';
import { memoryBalanced } from './strategies/memory_balanced.js';
import { memoryOptimized } from './strategies/memory_optimized.js';
import type { Placement, PlacementProblem, Strategy } from './strategies/placement.js';

const STRATEGIES: Readonly<Record<StrategyName, Strategy>> = {
  basic,
  memory_balanced: memoryBalanced,
  memory_optimized: memoryOptimized,
  cost_balanced: costBalanced,
};

function problemOf(request: PlanRequest, grouping: Grouping): PlacementProblem {
  const { tableGroups, inputGroups, mapGroups } = grouping;
  const ids = tableGroups.tableParallel.map(() => 0);
  const inputs = tableGroups.tableParallel.map(() => 0);
  mapGroups.tableParallel.forEach((table, place) => {
    ids[table]! += request.hotness[inputGroups.tableParallel[place]!]!;
    inputs[table]!++;
  });
  return {
    tables: tableGroups.tableParallel.map((table, place) => {
      const { rows, columns, rowCoupled } = request.tables[table]!;
      return { rows, columns, whole: rowCoupled, ids: ids[place]!, inputs: inputs[place]! };
    }),
    worldSize: request.worldSize,
    columnSliceThreshold: request.columnSliceThreshold,
    loads: (placement) => rankLoads(request, layOut(request, grouping, placement)),
  };
}

interface Placed {
  readonly grouping: Grouping;
  readonly placement: Placement;
  /** Devices without a piece of the table-parallel group. */
  readonly idle: number;
}

function place(request: PlanRequest, groupOf: readonly GroupName[]): Placed {
  const grouping = groupInputs(groupOf, request.inputTableMap);
  if (grouping.tableGroups.tableParallel.length === 0) {
    return { grouping, placement: { widths: [], divided: [] }, idle: 0 };
  }
  const placement = STRATEGIES[request.strategy](problemOf(request, grouping));
  return { grouping, placement, idle: placement.divided.filter(({ length }) => length === 0).length };
}

function tableText(request: PlanRequest, table: number): string {
  const { name, rows, columns } = request.tables[table]!;
  return `table ${table}${name === null ? '' : ` (${name})`} of ${rows} x ${columns}`;
}

function loadsOf(request: PlanRequest, { grouping, placement }: Placed): RankLoad[] {
  return rankLoads(request, layOut(request, grouping, placement));
}

/** The same with one more table, the one that suits best, cut by rows. */
function placeByRows(request: PlanRequest, groupOf: readonly GroupName[], { grouping }: Placed): [number, Placed] {
  const table = rowFallbackTable(request, grouping.tableGroups.tableParallel);
  const groups = groupOf.map((name, each) => (each === table ? 'rowSlice' : name));
  return [table, place(request, groups)];
}

function byRowsNote(request: PlanRequest, table: number, reason: string): string {
  const { worldSize } = request;
  const { rows } = request.tables[table]!;
  const rest = rows < worldSize ? `; it has rows for ${rows} devices only` : '';
  return `${tableText(request, table)} is cut by rows, because ${reason}${rest}`;
}

/** Too few pieces for all devices: one table goes to all of them by rows, or the caller hears of it. */
function fill(request: PlanRequest, groupOf: readonly GroupName[], placed: Placed, notes: string[]): Placed {
  const { worldSize } = request;
  const lack = `${placed.idle} of ${worldSize} devices without a piece of a table`;
  if (!request.rowFallback) {
    throw new ValueError(
      'columnSliceThreshold',
      `pieces of tables for all ${worldSize} devices`,
      described(lack),
      'Lower columnSliceThreshold, use fewer devices, or allow rowFallback.',
    );
  }
  if (!request.dpInput) {
    notes.push(`${lack}: they stay idle, because rows are not dealt out when dpInput is false`);
    return placed;
  }
  const [table, byRows] = placeByRows(request, groupOf, placed);
  notes.push(byRowsNote(request, table, `columns left ${lack}`));
  return byRows;
}

/**
 * `cost_balanced` finds pieces for all devices where `memory_balanced` cuts a table by rows for want of them. Rows it is
 * here too where columns alone would be worse than that.
 */
function orByRows(request: PlanRequest, groupOf: readonly GroupName[], placed: Placed, notes: string[]): Placed {
  if (request.strategy !== 'cost_balanced' || !request.rowFallback || !request.dpInput) return placed;
  const rival = { ...request, strategy: 'memory_balanced' as const };
  const whole = place(rival, groupOf);
  if (whole.idle === 0) return placed;
  const [table, rivalByRows] = placeByRows(rival, groupOf, whole);
  const worse = worseIn(loadsOf(request, placed), loadsOf(rival, rivalByRows));
  if (worse.length === 0) return placed;
  notes.push(byRowsNote(request, table, `columns would cost a device more ${worse.join(', ')}`));
  return placeByRows(request, groupOf, placed)[1];
}

/**
 * Returns a plan: which rows and columns of which table each of `worldSize` devices holds, how equal-width pieces share
 * a weight, which inputs go where and how outputs are put back in the order of inputs. Plain data with `toString()`
 * (a table of lines) and `toJSON()`; `readPlan` reads it again and `checkPlan` checks one that was changed by hand.
 *
 * Tables up to `dataParallelThreshold` elements are copied to each device, others from `rowSliceThreshold` elements on
 * are cut by rows (`rowSharding`: in ranges or modulo the number of devices), the rest is placed by `strategy`, whole or
 * cut by columns: above `columnSliceThreshold` elements, or, where that is null, only if there are fewer tables than
 * devices. `basic` goes round the devices, `memory_balanced` evens out numbers and sizes, `memory_optimized` sizes;
 * `cost_balanced` weighs memory, elements read and bytes exchanged, from `hotness` (ids per sample of each input) and
 * `batchSize`, cuts further where that helps, and is in none of them worse than `memory_balanced`. `deviceMemory` is in
 * bytes of tables: larger shards than fit stay in the host's memory. `predicted` counts one training step; seconds
 * are those of `machine`.
 *
 * With `network`, devices are servers that clients reach over it, and `cluster` tells what a step of one client asks of
 * each: bytes of ids, row splits, weights, pooled rows and gradients, calls, seconds and memory; and how many steps all
 * clients take in a second, and what limits them. Servers read tables at `machine.hostBandwidth`. Weights are counted only
 * where means over tables that are cut by rows need them. Seconds are without queues and without other traffic.
 *
 * Edge cases: one device has no row slices and no copies and always `basic`; so has `dpInput: false`, but for the
 * strategy. Tables that are `rowCoupled` are never cut by columns. Too few pieces for all devices: one table is cut by
 * rows instead, unless `rowFallback` is false; with `dpInput: false` devices stay idle. With fewer rows than devices
 * some shards have no rows. The plan's `notes` say which table is cut by rows for want of pieces, which devices stay
 * idle for that, and which tables are `rowCoupled`; strategy and thresholds that were used are in the `effective` fields.
 *
 *
 * Mirrors `DistEmbeddingStrategy` of NVIDIA-Merlin distributed-embeddings 1.0.0, places exactly as it does, and differs
 * where that goes wrong: output ranges with shared tables, uneven merged shards, joined tables with different
 * initializers, tables narrower than the number of devices.
 *
 * ```ts
 * import { planEmbedding } from 'tfjs-embeddings';
 * const plan = planEmbedding({
 *   tables: [
 *     { name: 'users', inputDim: 1000, outputDim: 16, combiner: 'sum' },
 *     { name: 'items', inputDim: 100, outputDim: 16, combiner: 'mean' },
 *   ],
 *   worldSize: 4,
 *   strategy: 'memory_balanced',
 * });
 * console.log(String(plan));
 * console.log(plan.ranks[3]?.tableParallel?.shards); // columns 12 to 16 of users, all of items
 * ```
 *
 * @param args - Tables, inputs and devices, and how tables are cut and placed.
 * @returns The plan.
 * @throws TypeError for a missing argument or a wrong type; ValueError for a value out of range, an unknown name or
 * field, and, with `rowFallback: false`, for too few pieces.
 */
export function planEmbedding(args: PlanEmbeddingArgs): EmbeddingPlan {
  const request = readRequest(args);
  const groupOf = groupTables(request);
  const notes: string[] = [];
  const placed = place(request, groupOf);
  const { grouping, placement } = (placed.idle > 0 ? fill : orByRows)(request, groupOf, placed, notes);
  if (request.worldSize > 1) {
    for (const table of grouping.tableGroups.tableParallel) {
      if (!request.tables[table]!.rowCoupled) continue;
      notes.push(`${tableText(request, table)} is not cut by columns, because its rows are coupled`);
    }
  }
  const plan = layOut(request, grouping, placement);
  const { batchSize, machine, network } = request;
  if (batchSize !== DEFAULT_BATCH || !isDefault(machine)) plan.predictedFor = { batchSize, machine };
  rankLoads(request, plan).forEach(({ seconds, lookups, bytesMemory, bytesOut }, device) => {
    plan.ranks[device]!.predicted = { seconds, lookups, bytesMemory, bytesOut };
  });
  if (network !== null) plan.cluster = planCluster(request, plan, network);
  if (notes.length > 0) plan.notes = notes;
  return withMethods(plan);
}
