/** What is predicted: the plans of a machine, made again where another one is meant, with what was looked up of each. */
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { bytesText, counted } from '../base/units.js';
import type { ReportedPlan, ReportSource } from '../backends/devices/report_source.js';
import type { EmbeddingPlan } from '../partition/plan.js';
import { readRequest, type PlanEmbeddingArgs, type PlanRequest } from '../partition/plan_request.js';
import { planEmbedding } from '../partition/planner.js';
import type { PerSample } from '../partition/step_load.js';
import { shardSize, slotLayout, tableLayouts, type TableLayout } from '../partition/table_layout.js';
import { measuredOf, placesOfTables } from './measured.js';

/** A plan, and what a step looks up of it. */
export interface PlannedStep {
  readonly request: PlanRequest;
  readonly plan: EmbeddingPlan;
  /** Bags and weights. */
  readonly perSample: PerSample;
}

/** Bytes of tables and slots on a device, and in the memory of its host. */
export interface HeldBytes {
  tables: number;
  slots: number;
  host: { tables: number; slots: number };
}

export interface PlannedSteps {
  readonly steps: readonly PlannedStep[];
  readonly held: readonly HeldBytes[];
  /** Whether the plans were made again, because the machine has another number of devices. */
  readonly plannedAgain: boolean;
  /** Samples of a step, for each plan. */
  readonly batchSizes: readonly number[];
  /** Bytes per second of the memory of the host: the slowest of all plans. */
  readonly hostBandwidth: number;
  readonly assumptions: readonly string[];
}

/** So many devices, and the argument that says so. */
export interface OtherDevices {
  readonly devices: number;
  readonly argument: string;
  /** What the argument counts. */
  readonly unit: string;
  readonly count: number;
}

const BYTES = 4;

function planFor(plan: ReportedPlan, args: PlanEmbeddingArgs, { argument, unit, count }: OtherDevices): EmbeddingPlan {
  try {
    return planEmbedding(args);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const expected = `a number of ${unit} that the plan ${JSON.stringify(plan.name)} can be made for`;
    const received = unit === 'chips' ? `${count}, ${args.worldSize} devices` : String(count);
    throw new ValueError(argument, expected, described(received), error.message);
  }
}

function addLayout(held: readonly HeldBytes[], layout: TableLayout, kind: 'tables' | 'slots'): void {
  for (const shard of layout.shards) {
    const of = held[shard.device]!;
    (shard.inHost ? of.host : of)[kind] += BYTES * shardSize(shard);
  }
}

/** Throws RuntimeError, which names `argument`, where there is no plan to predict. */
export function checkPlanned({ plans }: ReportSource, argument: string): void {
  if (plans.length > 0) return;
  const note = 'Build a distributedEmbedding on this backend first: its plan is what is predicted.';
  throw new RuntimeError(argument, 'a machine with a plan', described('one without'), note);
}

/** The plans of a source on so many devices. */
export function plannedSteps(source: ReportSource, wanted: OtherDevices): PlannedSteps {
  const { devices } = wanted;
  const held = Array.from({ length: devices }, (): HeldBytes => {
    return { tables: 0, slots: 0, host: { tables: 0, slots: 0 } };
  });
  const places = placesOfTables(source);
  const inMemory = new Set<number>();
  const assumptions: string[] = [];
  let [plannedAgain, areCutByRows, hostBandwidth] = [false, false, Infinity];

  const steps = source.plans.map((reported, number): PlannedStep => {
    const { batchSize, hotness, bags, weights, assumption } = measuredOf(reported, readRequest(reported.request));
    const args = { ...reported.request, worldSize: devices, batchSize, hotness };
    const isSame = reported.plan.ranks.length === devices;
    const plan = isSame ? reported.plan : planFor(reported, args, wanted);
    plannedAgain ||= !isSame;
    areCutByRows ||= plan.tableGroups.rowSlice.length > 0;
    const request = readRequest(args);
    hostBandwidth = Math.min(hostBandwidth, request.machine.hostBandwidth);
    tableLayouts(plan, request.tables).forEach((layout, table) => {
      const place = places[number]![table]!;
      // Layers may share a table, which then lies there once.
      if (place !== null && inMemory.has(place)) return;
      addLayout(held, layout, 'tables');
      if (place === null) return;
      inMemory.add(place);
      for (const { columns } of source.tables[place]!.slots) addLayout(held, slotLayout(layout, columns), 'slots');
    });
    assumptions.push(source.plans.length === 1 ? assumption : `${reported.name}: ${assumption}`);
    return { request, plan, perSample: { bags, weights } };
  });
  if (areCutByRows) assumptions.push('ids of tables that are cut by rows are spread evenly over these');
  if (plannedAgain) {
    const now = counted(source.chips * source.coresPerChip, 'device');
    assumptions.push(`the plans were made again for ${counted(devices, 'device')}, as they were for ${now}`);
  }
  const outside = source.tables.filter((_, place) => !inMemory.has(place));
  if (outside.length > 0) {
    const bytes = outside.reduce((sum, { layout }) => sum + BYTES * layout.rows * layout.columns, 0);
    assumptions.push(`${counted(outside.length, 'table')} outside plans (${bytesText(bytes)}) not counted`);
  }
  const batchSizes = steps.map(({ request }) => request.batchSize);
  return { steps, held, plannedAgain, batchSizes, hostBandwidth, assumptions };
}
