/** From groups and a placement to the whole plan: what each device holds, and how inputs and outputs find their way. */
import type { Grouping } from './groups.js';
import { joinShards, offloaded } from './physical_tables.js';
import {
  widthOf,
  type PlanData,
  type RankPlan,
  type Span,
  type TableParallelPlan,
  type TableParallelRank,
} from './plan.js';
import type { PlanRequest } from './plan_request.js';
import { rowShard } from './row_shards.js';
import { joinedOutputs, mergeSlices, type Shard } from './shards.js';
import type { Placement } from './strategies/placement.js';

/** Inputs of the group for each of its tables, ascending. */
export function inputsOfTables(map: readonly number[], tables: number): number[][] {
  const inputs: number[][] = Array.from({ length: tables }, () => []);
  map.forEach((table, input) => inputs[table]!.push(input));
  return inputs;
}

/** For each output in the order of inputs, its place among all outputs in the order of devices. */
export function placesByInput(ranks: readonly { readonly inputIds: readonly number[] }[]): number[] {
  const inputs = ranks.flatMap(({ inputIds }) => inputIds);
  return inputs.map((_, place) => place).sort((a, b) => inputs[a]! - inputs[b]! || a - b);
}

function tableParallelRank(
  request: PlanRequest,
  { tableGroups, inputGroups }: Grouping,
  shards: readonly Shard[],
  inputs: readonly number[][],
): TableParallelRank {
  const global = (table: number): number => tableGroups.tableParallel[table]!;
  const owned = shards.map((shard) => ({ shard, table: request.tables[global(shard.table)]! }));
  const weights = joinShards(owned, offloaded(owned, request.deviceMemory));
  const weightOf: number[] = [];
  const offsetOf: number[] = [];
  weights.concatGroups.forEach((group, weight) =>
    group.forEach((shard, place) => {
      weightOf[shard] = weight;
      offsetOf[shard] = weights.weightOffsets[weight]![place]!;
    }),
  );
  const uses = shards.flatMap(({ table }, shard) => inputs[table]!.map((input) => ({ input, shard })));
  return {
    tableIds: shards.map(({ table }) => table),
    shards: shards.map(({ table, columns }) => ({ table: global(table), columns: [...columns] as Span })),
    inputIds: uses.map(({ input }) => input),
    inputIdsGlobal: uses.map(({ input }) => inputGroups.tableParallel[input]!),
    localMap: uses.map(({ shard }) => weightOf[shard]!),
    inputOffsets: uses.map(({ shard }) => offsetOf[shard]!),
    ...weights,
    elements: owned.reduce((sum, { shard, table }) => sum + widthOf(shard) * table.rows, 0),
  };
}

function tableParallelPlan(
  placement: Placement,
  shards: readonly Shard[][],
  map: readonly number[],
  ranks: readonly TableParallelRank[],
): TableParallelPlan {
  const { widths, divided } = placement;
  const holders = widths.map(() => 0);
  for (const { table } of shards.flat()) holders[table]!++;
  const slices = widths.map(({ length }) => length);
  return {
    sliceWidthsPerTable: widths.map((list) => [...list]),
    dividedIds: divided.map((list) => [...list]),
    slicedOutRangesBeforeMerge: joinedOutputs(map, widths, slices),
    slicedOutRanges: joinedOutputs(map, widths, holders),
    widthsListFlat: ranks.flatMap((rank) => rank.localMap.map((weight) => rank.physicalTables[weight]!.outputDim)),
    revTpIds: placesByInput(ranks),
  };
}

/** The plan, without predicted loads. */
export function layOut(request: PlanRequest, grouping: Grouping, placement: Placement): PlanData {
  const { tables, worldSize } = request;
  const { tableGroups, inputGroups, mapGroups, revGroupIds } = grouping;
  const ranks: RankPlan[] = Array.from({ length: worldSize }, () => ({}));
  const plan: PlanData = {
    effectiveStrategy: request.strategy,
    effectiveRowSliceThreshold: request.rowSliceThreshold,
    effectiveDataParallelThreshold: request.dataParallelThreshold,
    tableGroups,
    inputGroups,
    mapGroups,
    revGroupIds,
    ranks,
  };
  if (tableGroups.tableParallel.length > 0) {
    const shards = mergeSlices(placement);
    const inputs = inputsOfTables(mapGroups.tableParallel, tableGroups.tableParallel.length);
    const held = shards.map((list) => tableParallelRank(request, grouping, list, inputs));
    plan.tableParallel = tableParallelPlan(placement, shards, mapGroups.tableParallel, held);
    held.forEach((rank, device) => (ranks[device]!.tableParallel = rank));
  }
  if (tableGroups.dataParallel.length > 0) {
    plan.dataParallelTables = tableGroups.dataParallel.map((table) => {
      return { table, inputDim: tables[table]!.rows, outputDim: tables[table]!.columns };
    });
  }
  if (tableGroups.rowSlice.length > 0) {
    ranks.forEach((rank, device) => {
      rank.rowSlice = tableGroups.rowSlice.map((table) =>
        rowShard(table, tables[table]!, device, worldSize, request.rowSharding),
      );
    });
  }
  if (tables.some(({ name }) => name !== null)) {
    plan.tableNames = tables.map(({ name }, table) => name ?? String(table));
  }
  return plan;
}
