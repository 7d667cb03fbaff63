/**
 * What a step of one client sends to each server and gets from it. Servers keep nothing between calls: ids go with the
 * lookup and again with the update. Rows travel as pooled rows and as gradients of these, never one by one.
 */
import type { PlanData } from '../plan.js';
import type { PlanRequest } from '../plan_request.js';
import { BACKWARD, lookedOf, ofRows, partOf, passBytes, type Looked, type PerSample } from '../step_load.js';
import type { PlanNetwork } from './network.js';

/** Bytes of the calls of one kind. */
export interface ServerCalls {
  ids: number;
  rowSplits: number;
  weights: number;
  /** Pooled rows of a lookup, which the server sends; gradients of an update, which it receives. */
  rows: number;
  /** Gradients of rows of copied tables, which go through the client to all servers: sent, and received. */
  copiesOut: number;
  copiesIn: number;
  /** Bytes that move in the memory of the server for it. */
  memoryBytes: number;
}

export interface ServerLoad {
  readonly lookup: ServerCalls;
  readonly update: ServerCalls;
}

const BYTES = 4;

function noCalls(): ServerCalls {
  return { ids: 0, rowSplits: 0, weights: 0, rows: 0, copiesOut: 0, copiesIn: 0, memoryBytes: 0 };
}

/** What a server receives in all calls of a kind, and what it sends. */
export function bytesOfCalls(
  calls: ServerCalls,
  kind: keyof ServerLoad,
): { readonly bytesIn: number; readonly bytesOut: number } {
  const { ids, rowSplits, weights, rows, copiesIn, copiesOut } = calls;
  const sent = ids + rowSplits + weights;
  return kind === 'lookup'
    ? { bytesIn: sent, bytesOut: rows }
    : { bytesIn: sent + rows + copiesIn, bytesOut: copiesOut };
}

/** The sum of loads of one server under several plans. */
export function sumOfServerLoads(loads: readonly ServerLoad[]): ServerLoad {
  const sum = { lookup: noCalls(), update: noCalls() };
  for (const load of loads) {
    for (const kind of ['lookup', 'update'] as const) {
      for (const field of Object.keys(sum[kind]) as (keyof ServerCalls)[]) sum[kind][field] += load[kind][field];
    }
  }
  return sum;
}

/** Distinct ids among so many that are spread evenly over the rows. */
function distinct(ids: number, rows: number): number {
  return ids === 0 ? 0 : -rows * Math.expm1(ids * Math.log1p(-1 / rows));
}

class LoadOfServer {
  readonly lookup = noCalls();
  readonly update = noCalls();

  constructor(private readonly bytesOfNumber: number) {}

  /** One input is looked up in rows of `width` numbers, and updates them. */
  add(looked: Looked, width: number): void {
    for (const calls of [this.lookup, this.update]) {
      calls.ids += BYTES * looked.ids;
      calls.rowSplits += BYTES * (looked.bags + 1);
      calls.weights += BYTES * looked.weights;
      calls.rows += this.bytesOfNumber * looked.bags * width;
      calls.memoryBytes += (calls === this.update ? BACKWARD : 1) * passBytes(looked, width);
    }
  }

  /** The server finds the gradients of so many rows of its part, and updates by those of `servers` parts. */
  addCopied(rows: number, width: number, servers: number): void {
    const bytes = rows * (BYTES + this.bytesOfNumber * width);
    this.update.copiesOut += bytes;
    this.update.copiesIn += servers * bytes;
    const all = servers * rows;
    this.update.memoryBytes += BACKWARD * passBytes({ ids: all, bags: all, weights: 0 }, width);
  }
}

/** By mean and sqrtn a server that has part of a bag must be told by what the whole is divided: with each id. */
function withFactors(looked: Looked, combiner: string | null): Looked {
  const isDivided = combiner === 'mean' || combiner === 'sqrtn';
  return isDivided && looked.ids !== looked.bags ? { ...looked, weights: looked.ids } : looked;
}

/** The load of each server, whose number is that of the device in the plan. */
export function serverLoads(
  request: PlanRequest,
  plan: PlanData,
  { exchange }: Pick<PlanNetwork, 'exchange'>,
  perSample: PerSample,
): ServerLoad[] {
  const { tables, inputTableMap, worldSize } = request;
  const all = lookedOf(request, perSample);
  const inputsOf = (table: number): Looked[] => all.filter((_, input) => inputTableMap[input] === table);
  return plan.ranks.map(({ tableParallel, rowSlice }) => {
    const load = new LoadOfServer(exchange === 'float16' ? 2 : BYTES);
    tableParallel?.inputIdsGlobal.forEach((input, place) => {
      load.add(all[input]!, tableParallel.physicalTables[tableParallel.localMap[place]!]!.outputDim);
    });
    for (const { table, inputDim, outputDim } of rowSlice ?? []) {
      if (inputDim === 0) continue;
      const { rows, combiner } = tables[table]!;
      for (const looked of inputsOf(table)) {
        load.add(ofRows(withFactors(looked, combiner), inputDim / rows), outputDim);
      }
    }
    for (const { table, inputDim, outputDim } of plan.dataParallelTables ?? []) {
      const parts = inputsOf(table).map((looked) => partOf(looked, worldSize));
      for (const part of parts) load.add(part, outputDim);
      const ids = parts.reduce((sum, part) => sum + part.ids, 0);
      load.addCopied(distinct(ids, inputDim), outputDim, worldSize);
    }
    return load;
  });
}
