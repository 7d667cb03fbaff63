/**
 * Load of each device in one training step. The formulas are those of TorchRec's planner 1.0, reduced: a forward pass
 * reads ids and rows and writes pooled rows, a backward pass costs twice that, exchange costs bytes over the link.
 */
import { widthOf, type PlanData } from './plan.js';
import type { PlanRequest } from './plan_request.js';

export interface RankLoad {
  seconds: number;
  /** Rows read. */
  lookups: number;
  /** Elements of tables read: lookups x width. */
  elementsRead: number;
  bytesMemory: number;
  /** Pooled rows, and gradients of copies, that the device sends to others. */
  bytesOut: number;
  /** The same, and the ids and gradients of pooled rows that others send to it. */
  bytesExchanged: number;
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

  read(ids: number, bags: number, width: number, inHost: boolean): void {
    this.lookups += ids;
    this.elementsRead += ids * width;
    const bytes = PASSES * passBytes(ids, bags, width);
    if (inHost) this.hostBytes += bytes;
    else this.deviceBytes += bytes;
  }
}

/** Part of the batch that belongs to other devices. */
function ofOthers({ worldSize }: PlanRequest): number {
  return (worldSize - 1) / worldSize;
}

/** Ids and gradients of the others' parts of the batch come, pooled rows for them leave. */
function addTableParallel(tally: Tally, request: PlanRequest, plan: PlanData, device: number): void {
  const held = plan.ranks[device]!.tableParallel;
  if (held === undefined) return;
  const others = ofOthers(request);
  held.inputIdsGlobal.forEach((input, place) => {
    const weight = held.physicalTables[held.localMap[place]!]!;
    const ids = request.batchSize * request.hotness[input]!;
    tally.read(ids, request.batchSize, weight.outputDim, weight.cpuOffload);
    const pooled = BYTES * request.batchSize * weight.outputDim * others;
    tally.out += pooled;
    tally.in += pooled + (request.dpInput ? BYTES * ids * others : 0);
  });
  held.concatGroups.forEach((group, weight) => {
    if (held.physicalTables[weight]!.cpuOffload) return;
    for (const shard of group) {
      const { table } = held.shards[shard]!;
      tally.bytesMemory += BYTES * widthOf(held.shards[shard]!) * request.tables[table]!.rows;
    }
  });
}

/** Part of the bags that have an id among `share` of the rows, for ids that are spread evenly over them. */
export function bagsReached(idsPerBag: number, share: number): number {
  return 1 - (1 - share) ** idsPerBag;
}

/** Each id goes to the owner of its row; partial sums of the bags that have some there go to the one that wants them. */
function addRowSlices(tally: Tally, request: PlanRequest, plan: PlanData, device: number): void {
  const others = ofOthers(request);
  for (const shard of plan.ranks[device]!.rowSlice ?? []) {
    const share = shard.inputDim / request.tables[shard.table]!.rows;
    tally.bytesMemory += BYTES * shard.inputDim * shard.outputDim;
    request.inputTableMap.forEach((table, input) => {
      if (table !== shard.table) return;
      const ids = request.batchSize * request.hotness[input]! * share;
      const bags = request.batchSize * bagsReached(request.hotness[input]!, share);
      tally.read(ids, bags, shard.outputDim, false);
      const pooled = BYTES * bags * shard.outputDim * others;
      tally.out += pooled;
      tally.in += pooled + BYTES * ids * others;
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
    // Summed in a ring, which sends and receives at the same time: counted once.
    tally.out += 2 * bytes * ofOthers(request);
    request.inputTableMap.forEach((used, input) => {
      if (used === table) tally.read(part * request.hotness[input]!, part, outputDim, false);
    });
  }
}

/** The load of each device under a plan: what the tables that it holds cost it. */
export function rankLoads(request: PlanRequest, plan: PlanData): RankLoad[] {
  const { machine } = request;
  return plan.ranks.map((_, device) => {
    const tally = new Tally();
    addTableParallel(tally, request, plan, device);
    addRowSlices(tally, request, plan, device);
    addCopies(tally, request, plan);
    const seconds =
      tally.deviceBytes / machine.memoryBandwidth +
      tally.hostBytes / machine.hostBandwidth +
      (tally.out + tally.in) / machine.linkBandwidth;
    const { lookups, elementsRead, bytesMemory } = tally;
    return { seconds, lookups, elementsRead, bytesMemory, bytesOut: tally.out, bytesExchanged: tally.out + tally.in };
  });
}
