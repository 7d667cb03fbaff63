/** The prediction of a report: plans, made again where the machine is another one, and their loads as measured. */
import { RuntimeError, ValueError, described } from '../base/errors.js';
import type { EmbeddingPlan } from '../partition/plan.js';
import { readRequest, type PlanEmbeddingArgs } from '../partition/plan_request.js';
import { planEmbedding } from '../partition/planner.js';
import { shardSize, slotLayout, tableLayouts, type TableLayout } from '../partition/table_layout.js';
import { measuredOf, placesOfTables } from './measured.js';
import { predictStep, type DeviceMemoryWanted, type StepPrediction } from './cost_model.js';
import type { ReportedPlan, ReportSource } from '../backends/devices/report_source.js';
import { stepLoads, sumOf, type StepLoad } from '../partition/step_load.js';
import { bytesText, counted } from '../base/units.js';

export interface Prediction extends StepPrediction {
  /** Whether the plans were made again, because the emulated machine has another number of devices. */
  readonly plannedAgain: boolean;
  /** Samples of a step over all devices, for each plan. */
  readonly batchSizes: readonly number[];
}

const BYTES = 4;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function planFor(plan: ReportedPlan, args: PlanEmbeddingArgs, chips: number): EmbeddingPlan {
  try {
    return planEmbedding(args);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const expected = `a number of chips that the plan ${JSON.stringify(plan.name)} can be made for`;
    throw new ValueError('chips', expected, described(`${chips}, ${args.worldSize} devices`), error.message);
  }
}

interface Wanted {
  tables: number;
  slots: number;
  exchange: number;
  host: number;
}

function addLayout(wanted: readonly Wanted[], layout: TableLayout, kind: 'tables' | 'slots'): void {
  for (const shard of layout.shards) {
    wanted[shard.device]![shard.inHost ? 'host' : kind] += BYTES * shardSize(shard);
  }
}

/** The step of all plans on `chips` chips of a generation. Throws RuntimeError where there is no plan to predict. */
export function predictionOf(source: ReportSource, generation: string, chips: number): Prediction {
  if (source.plans.length === 0) {
    const note = 'Build a distributedEmbedding on this backend first: its plan is what is predicted.';
    throw new RuntimeError('generation', 'a machine with a plan', described('one without'), note);
  }
  const devices = chips * source.coresPerChip;
  const loads: StepLoad[][] = Array.from({ length: devices }, () => []);
  const wanted: Wanted[] = loads.map(() => ({ tables: 0, slots: 0, exchange: 0, host: 0 }));
  const places = placesOfTables(source);
  const inMemory = new Set<number>();
  const batchSizes: number[] = [];
  const assumptions: string[] = [];
  let [plannedAgain, areCutByRows, hostBandwidth] = [false, false, Infinity];

  source.plans.forEach((reported, number) => {
    const asked = readRequest(reported.request);
    const { batchSize, hotness, bags, weights, assumption } = measuredOf(reported, asked);
    const args = { ...reported.request, worldSize: devices, batchSize, hotness };
    const isSame = reported.plan.ranks.length === devices;
    const plan = isSame ? reported.plan : planFor(reported, args, chips);
    plannedAgain ||= !isSame;
    areCutByRows ||= plan.tableGroups.rowSlice.length > 0;
    batchSizes.push(batchSize);
    const request = readRequest(args);
    hostBandwidth = Math.min(hostBandwidth, request.machine.hostBandwidth);
    stepLoads(request, plan, { bags, weights }).forEach((load, device) => loads[device]!.push(load));
    tableLayouts(plan, request.tables).forEach((layout, table) => {
      const place = places[number]![table]!;
      // Layers may share a table, which then lies there once.
      if (place !== null && inMemory.has(place)) return;
      addLayout(wanted, layout, 'tables');
      if (place === null) return;
      inMemory.add(place);
      for (const { columns } of source.tables[place]!.slots) {
        addLayout(wanted, slotLayout(layout, columns), 'slots');
      }
    });
    assumptions.push(source.plans.length === 1 ? assumption : `${reported.name}: ${assumption}`);
  });
  if (areCutByRows) assumptions.push('ids of tables that are cut by rows are spread evenly over these');
  if (plannedAgain) {
    const now = counted(source.chips * source.coresPerChip, 'device');
    assumptions.push(`the plans were made again for ${counted(devices, 'device')}, as they were for ${now}`);
  }
  const outside = source.tables.filter((_, place) => !inMemory.has(place));
  if (outside.length > 0) {
    const bytes = sum(outside.map(({ layout }) => BYTES * layout.rows * layout.columns));
    assumptions.push(`${counted(outside.length, 'table')} outside plans (${bytesText(bytes)}) not counted`);
  }

  const summed = loads.map(sumOf);
  const memory = wanted.map((held, device): DeviceMemoryWanted => {
    return { ...held, exchange: summed[device]!.exchangeMemory };
  });
  const args = { generation, chips, devicesPerChip: source.coresPerChip, loads: summed, memory, hostBandwidth };
  const step = predictStep(args);
  return { ...step, assumptions: [...assumptions, ...step.assumptions], plannedAgain, batchSizes };
}
