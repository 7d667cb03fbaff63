/**
 * What each device does in one training step of a plan, phase by phase: the planner weighs it, reports time it. The
 * formulas are those of TorchRec's planner 1.0, reduced: a lookup reads ids and rows and writes pooled rows, the
 * backward pass with its update moves twice that, ids go to their owners, pooled rows come back, gradients go again.
 */
import type { PlanData } from './plan.js';
import type { PlanRequest } from './plan_request.js';

/** Bytes of one device, or of the devices of a chip. */
export interface StepLoad {
  /** Rows read. */
  lookups: number;
  /** Lookups x width of the rows. */
  elements: number;
  /** Bytes that a lookup moves in the device's own memory, and in the host's for tables that lie there. */
  lookupBytes: number;
  lookupHostBytes: number;
  /** The same for the backward pass and the update. */
  updateBytes: number;
  updateHostBytes: number;
  idsOut: number;
  idsIn: number;
  /** Pooled rows that are sent; as many bytes of gradients come back. */
  pooledOut: number;
  /** Pooled rows that come; as many bytes of gradients are sent. */
  pooledIn: number;
  /** Gradients of tables that each device has a copy of. */
  copiedBytes: number;
  /** Ids, pooled rows or gradients that lie on the device at a time. */
  exchangeMemory: number;
}

const BYTES = 4;
/** A backward pass with its update moves twice what the forward pass does. */
export const BACKWARD = 2;
/** Dense gradient, optimizer and their reads and writes, per byte of a table that each device has a copy of. */
const DENSE_UPDATE = 9.22;

/** Short rows use the memory less well. */
function rowPenalty(width: number): number {
  if (width >= 128) return 1;
  return width >= 64 ? 1.15 : 1.75;
}

/** Ids, bags and weights of one input in a step. */
export interface Looked {
  readonly ids: number;
  readonly bags: number;
  readonly weights: number;
}

/** A device that does nothing. */
export function emptyLoad(): StepLoad {
  return {
    lookups: 0,
    elements: 0,
    lookupBytes: 0,
    lookupHostBytes: 0,
    updateBytes: 0,
    updateHostBytes: 0,
    idsOut: 0,
    idsIn: 0,
    pooledOut: 0,
    pooledIn: 0,
    copiedBytes: 0,
    exchangeMemory: 0,
  };
}

/** Bytes that a lookup moves in memory: ids and rows are read, pooled rows written. */
export function passBytes({ ids, bags, weights }: Looked, width: number): number {
  return BYTES * (ids * (1 + width * rowPenalty(width)) + weights + bags * width);
}

function addPass(load: StepLoad, looked: Looked, width: number, inHost: boolean): void {
  const { ids, bags, weights } = looked;
  const bytes = passBytes(looked, width);
  load.lookups += ids;
  load.elements += ids * width;
  load.exchangeMemory += BYTES * (ids + weights + bags * width);
  if (inHost) {
    load.lookupHostBytes += bytes;
    load.updateHostBytes += BACKWARD * bytes;
  } else {
    load.lookupBytes += bytes;
    load.updateBytes += BACKWARD * bytes;
  }
}

/** Bags of each input per sample: without a combiner each id is one, and its row is sent as it is. */
export function bagsPerSample({ hotness, inputTableMap, tables }: PlanRequest): number[] {
  return hotness.map((ids, input) => (tables[inputTableMap[input]!]!.combiner === null ? ids : 1));
}

/** Adds what a device looks up for the whole batch; what is not of its own part of the batch is sent. */
function addOwned(load: StepLoad, request: PlanRequest, looked: Looked, width: number, inHost: boolean): void {
  const { worldSize, dpInput } = request;
  const others = (worldSize - 1) / worldSize;
  addPass(load, looked, width, inHost);
  if (dpInput) load.idsIn += BYTES * (looked.ids + looked.weights) * others;
  load.pooledOut += BYTES * looked.bags * width * others;
}

/** Part of the bags that have an id among `share` of the rows, for ids that are spread evenly over them. */
function bagsReached(idsPerBag: number, share: number): number {
  return 1 - (1 - share) ** idsPerBag;
}

/** What comes to a device that holds `share` of the rows: its ids, and the bags that have one there. */
export function ofRows({ ids, bags, weights }: Looked, share: number): Looked {
  const reached = bags === 0 ? 0 : bags * bagsReached(ids / bags, share);
  return { ids: ids * share, bags: reached, weights: weights * share };
}

/** What each of so many devices has of it. */
export function partOf({ ids, bags, weights }: Looked, devices: number): Looked {
  return { ids: ids / devices, bags: bags / devices, weights: weights / devices };
}

/** Bags and weights of each input per sample. */
export interface PerSample {
  readonly bags?: readonly number[];
  readonly weights?: readonly number[];
}

/** What a step looks up of each input. */
export function lookedOf({ batchSize, hotness }: PlanRequest, { bags, weights }: PerSample): Looked[] {
  return hotness.map((ids, input) => ({
    ids: batchSize * ids,
    bags: batchSize * (bags?.[input] ?? 1),
    weights: batchSize * (weights?.[input] ?? 0),
  }));
}

function addCopies(
  load: StepLoad,
  { worldSize, inputTableMap }: PlanRequest,
  plan: PlanData,
  all: readonly Looked[],
): void {
  for (const { table, inputDim, outputDim } of plan.dataParallelTables ?? []) {
    const bytes = BYTES * inputDim * outputDim;
    load.copiedBytes += bytes;
    load.updateBytes += DENSE_UPDATE * bytes;
    inputTableMap.forEach((used, input) => {
      if (used === table) addPass(load, partOf(all[input]!, worldSize), outputDim, false);
    });
  }
}

/**
 * The load of each device. Samples are spread evenly over devices; of a row-sliced table each id goes to its owner.
 * `perSample`: bags and weights of each input; by default one bag and no weights, as the planner has it.
 */
export function stepLoads(request: PlanRequest, plan: PlanData, perSample: PerSample = {}): StepLoad[] {
  const { tables, inputTableMap, worldSize } = request;
  const all = lookedOf(request, perSample);
  const loads = plan.ranks.map(({ tableParallel, rowSlice }) => {
    const load = emptyLoad();
    tableParallel?.inputIdsGlobal.forEach((input, place) => {
      const { outputDim, cpuOffload } = tableParallel.physicalTables[tableParallel.localMap[place]!]!;
      addOwned(load, request, all[input]!, outputDim, cpuOffload);
    });
    for (const { table, inputDim, outputDim } of rowSlice ?? []) {
      if (inputDim === 0) continue;
      const share = inputDim / tables[table]!.rows;
      inputTableMap.forEach((used, input) => {
        if (used === table) addOwned(load, request, ofRows(all[input]!, share), outputDim, false);
      });
    }
    addCopies(load, request, plan, all);
    return load;
  });
  // What an owner gets comes from all others alike, and what it sends goes to all others alike.
  const ids = loads.reduce((sum, load) => sum + load.idsIn, 0);
  const pooled = loads.reduce((sum, load) => sum + load.pooledOut, 0);
  for (const load of loads) {
    if (worldSize === 1) break;
    load.idsOut = (ids - load.idsIn) / (worldSize - 1);
    load.pooledIn = (pooled - load.pooledOut) / (worldSize - 1);
  }
  return loads;
}

/** The sum of loads of one device under several plans. */
export function sumOf(loads: readonly StepLoad[]): StepLoad {
  const sum = emptyLoad();
  for (const load of loads) for (const field of Object.keys(sum) as (keyof StepLoad)[]) sum[field] += load[field];
  return sum;
}
