/**
 * Load of each device in one training step. The formulas are those of TorchRec's planner 1.0, reduced: a forward pass
 * reads ids and rows and writes pooled rows, a backward pass costs twice that, exchange costs bytes over the link.
 */
import { widthOf } from './physical_tables.js';
import type { PlanData } from './plan.js';
import type { PlanRequest } from './plan_request.js';

export interface RankLoad {
  seconds: number;
  /** Rows read. */
  lookups: number;
  /** Elements of tables read: lookups x width. */
  elementsRead: number;
  bytesMemory: number;
  bytesOut: number;
  bytesIn: number;
}

const BYTES = 4;
/** A backward pass with its update moves twice what the forward pass does. */
const PASSES = 3;
/** Dense gradient, optimizer and their reads and writes, per byte of a table that each device has a copy of. */
const DENSE_UPDATE = 9.22;

/** Short rows use the memory less well. */
function rowPenalty(width: number): number {
  if (width >= 128) return 1;
  return width >= 64 ? 1.15 : 1.75;
}

/** Bytes that one pass over `samples` bags with `ids` ids in all moves. */
function passBytes(ids: number, bags: number, width: number): number {
  return BYTES * (ids * (1 + width * rowPenalty(width)) + bags * width);
}

class Tally {
  lookups = 0;
  elementsRead = 0;
  bytesMemory = 0;
  deviceBytes = 0;
  hostBytes = 0;
  out = 0;
  in = 0;
  /** Of the table-parallel group, whole batch: ids that arrive and elements of pooled rows that leave. */
  ids = 0;
  pooled = 0;

  read(ids: number, bags: number, width: number, inHost: boolean): void {
    this.lookups += ids;
    this.elementsRead += ids * width;
    const bytes = PASSES * passBytes(ids, bags, width);
    if (inHost) this.hostBytes += bytes;
    else this.deviceBytes += bytes;
  }
}

function addTableParallel(tally: Tally, request: PlanRequest, plan: PlanData, device: number): void {
  const held = plan.ranks[device]!.tableParallel;
  if (held === undefined) return;
  held.inputIdsGlobal.forEach((input, place) => {
    const weight = held.physicalTables[held.localMap[place]!]!;
    const ids = request.batchSize * request.hotness[input]!;
    tally.read(ids, request.batchSize, weight.outputDim, weight.cpuOffload);
    tally.ids += ids;
    tally.pooled += request.batchSize * weight.outputDim;
  });
  held.concatGroups.forEach((group, weight) => {
    if (held.physicalTables[weight]!.cpuOffload) return;
    for (const shard of group) {
      const { table } = held.shards[shard]!;
      tally.bytesMemory += BYTES * widthOf(held.shards[shard]!) * request.tables[table]!.rows;
    }
  });
}

/** Ids go to all, partial sums to the device that wants them, gradients to all. */
function addRowSlices(tally: Tally, request: PlanRequest, plan: PlanData, device: number): void {
  const others = request.worldSize - 1;
  const part = request.batchSize / request.worldSize;
  for (const shard of plan.ranks[device]!.rowSlice ?? []) {
    const share = shard.inputDim / request.tables[shard.table]!.rows;
    tally.bytesMemory += BYTES * shard.inputDim * shard.outputDim;
    request.inputTableMap.forEach((table, input) => {
      if (table !== shard.table) return;
      const hotness = request.hotness[input]!;
      tally.read(request.batchSize * hotness * share, request.batchSize, shard.outputDim, false);
      const moved = BYTES * part * (hotness + 2 * shard.outputDim) * others;
      tally.out += moved;
      tally.in += moved;
    });
  }
}

/** Each device looks up its part of the batch; gradients of whole tables are summed over all. */
function addCopies(tally: Tally, request: PlanRequest, plan: PlanData): void {
  const part = request.batchSize / request.worldSize;
  for (const { table, inputDim, outputDim } of plan.dataParallelTables ?? []) {
    const bytes = BYTES * inputDim * outputDim;
    tally.bytesMemory += bytes;
    tally.deviceBytes += DENSE_UPDATE * bytes;
    const reduced = (2 * bytes * (request.worldSize - 1)) / request.worldSize;
    tally.out += reduced;
    tally.in += reduced;
    request.inputTableMap.forEach((used, input) => {
      if (used === table) tally.read(part * request.hotness[input]!, part, outputDim, false);
    });
  }
}

/** The load of each device under a plan. */
export function rankLoads(request: PlanRequest, plan: PlanData): RankLoad[] {
  const { worldSize, machine } = request;
  const tallies = plan.ranks.map((_, device) => {
    const tally = new Tally();
    addTableParallel(tally, request, plan, device);
    addRowSlices(tally, request, plan, device);
    addCopies(tally, request, plan);
    return tally;
  });
  const allIds = tallies.reduce((sum, { ids }) => sum + ids, 0);
  const allPooled = tallies.reduce((sum, { pooled }) => sum + pooled, 0);
  const ofOthers = (worldSize - 1) / worldSize;
  return tallies.map((tally) => {
    // Pooled rows leave to the other devices; ids and gradients of this device's part of the batch go to the owners.
    const idsOut = request.dpInput ? (allIds - tally.ids) / worldSize : 0;
    const idsIn = request.dpInput ? tally.ids * ofOthers : 0;
    const otherPooled = (allPooled - tally.pooled) / worldSize;
    const ownPooled = tally.pooled * ofOthers;
    const bytesOut = tally.out + BYTES * (ownPooled + otherPooled + idsOut);
    const bytesIn = tally.in + BYTES * (ownPooled + otherPooled + idsIn);
    const seconds =
      tally.deviceBytes / machine.memoryBandwidth +
      tally.hostBytes / machine.hostBandwidth +
      Math.max(bytesOut, bytesIn) / machine.linkBandwidth;
    const { lookups, elementsRead, bytesMemory } = tally;
    return { seconds, lookups, elementsRead, bytesMemory, bytesOut, bytesIn };
  });
}
