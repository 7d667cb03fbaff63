/** What the planner weighs of the load of each device, and how long a machine takes for it. */
import { widthOf, type PlanData } from './plan.js';
import type { PlanRequest } from './plan_request.js';
import { stepLoads } from './step_load.js';

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

/** Bytes of the tables that lie in the memory of a device. */
function tableBytes({ tables }: PlanRequest, plan: PlanData, device: number): number {
  const { tableParallel, rowSlice } = plan.ranks[device]!;
  let elements = 0;
  tableParallel?.concatGroups.forEach((group, weight) => {
    if (tableParallel.physicalTables[weight]!.cpuOffload) return;
    for (const shard of group) {
      const piece = tableParallel.shards[shard]!;
      elements += widthOf(piece) * tables[piece.table]!.rows;
    }
  });
  for (const { inputDim, outputDim } of rowSlice ?? []) elements += inputDim * outputDim;
  for (const { inputDim, outputDim } of plan.dataParallelTables ?? []) elements += inputDim * outputDim;
  return BYTES * elements;
}

/** The load of each device under a plan: what the tables that it holds cost it. */
export function rankLoads(request: PlanRequest, plan: PlanData): RankLoad[] {
  const { machine, worldSize } = request;
  return stepLoads(request, plan).map((load, device) => {
    // Gradients of copies are summed in a ring, which sends and receives at the same time: counted once.
    const ring = (2 * load.copiedBytes * (worldSize - 1)) / worldSize;
    const bytesOut = load.pooledOut + ring;
    // As many bytes of gradients come back as pooled rows leave.
    const bytesExchanged = bytesOut + load.pooledOut + load.idsIn;
    const seconds =
      (load.lookupBytes + load.updateBytes) / machine.memoryBandwidth +
      (load.lookupHostBytes + load.updateHostBytes) / machine.hostBandwidth +
      bytesExchanged / machine.linkBandwidth;
    const bytesMemory = tableBytes(request, plan, device);
    return { seconds, lookups: load.lookups, elementsRead: load.elements, bytesMemory, bytesOut, bytesExchanged };
  });
}
