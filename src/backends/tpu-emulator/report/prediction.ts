/** The prediction of a report: plans, made again where the machine is another one, and their loads as measured. */
import { RuntimeError, ValueError, described } from '../../../errors.js';
import type { EmbeddingPlan } from '../../../partition/plan.js';
import { readRequest, type PlanEmbeddingArgs, type PlanRequest } from '../../../partition/plan_request.js';
import { planEmbedding } from '../../../partition/planner.js';
import { shardSize, slotLayout, tableLayouts, type TableLayout } from '../../../partition/table_layout.js';
import { predictStep, type DeviceMemoryWanted, type StepPrediction } from './cost_model.js';
import type { ReportedPlan, ReportSource } from './report_source.js';
import { stepLoads, sumOf, type StepLoad } from './step_load.js';
import { bytesText, counted, wholeText } from './units.js';

export interface Prediction extends StepPrediction {
  /** Whether the plans were made again, because the emulated machine has another number of devices. */
  readonly plannedAgain: boolean;
  /** Samples of a step over all devices, for each plan. */
  readonly batchSizes: readonly number[];
}

interface Measured {
  readonly batchSize: number;
  readonly hotness: readonly number[];
  readonly assumption: string;
}

const BYTES = 4;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function batchOf(samples: number): number {
  return Math.max(1, Math.round(samples));
}

/** Batch and ids per sample as counted for the plan itself, else for the whole machine, else as the plan was asked for. */
function measuredOf(source: ReportSource, plan: ReportedPlan, asked: PlanRequest): Measured {
  const { measured } = plan;
  if (measured !== undefined && measured.calls > 0) {
    const hotness = asked.hotness.map((ids, input) =>
      measured.bags[input]! > 0 ? measured.ids[input]! / measured.bags[input]! : ids,
    );
    const batchSize = batchOf(sum(measured.bags) / (measured.calls * asked.inputTableMap.length));
    return { batchSize, hotness, assumption: `batch ${wholeText(batchSize)} and ids per sample as measured` };
  }
  const { lookUps, bags, devices } = source.counters;
  if (lookUps === 0 || bags === 0) {
    const { batchSize, hotness } = asked;
    const text = `nothing was looked up yet: batch ${wholeText(batchSize)} and ids per sample as the plan was asked for`;
    return { batchSize, hotness, assumption: text };
  }
  // Each plan takes part in as many calls as any other.
  const inputs = sum(source.plans.map(({ plan: { revGroupIds } }) => revGroupIds.length));
  const calls = lookUps / source.plans.length;
  const batchSize = batchOf(bags / (calls * inputs));
  const expected = sum(
    source.plans.map((other) => {
      const request = readRequest({ ...other.request, worldSize: other.plan.ranks.length, batchSize });
      return sum(stepLoads(request, other.plan).map(({ lookups }) => lookups));
    }),
  );
  const factor = expected === 0 ? 1 : sum(devices.map(({ ids }) => ids)) / (calls * expected);
  return {
    batchSize,
    hotness: asked.hotness.map((ids) => ids * factor),
    assumption:
      `batch ${wholeText(batchSize)} as measured; ids per sample as the plan was asked for, ` +
      `times ${factor.toPrecision(3)}, so that as many rows are read as was measured`,
  };
}

/** Places of the tables of each plan among the reported ones: as told, else by name and size, else by size. */
export function placesOfTables(source: ReportSource): (number | null)[][] {
  const isTaken = new Set<number>(source.plans.flatMap(({ tables }) => tables ?? []));
  return source.plans.map(({ request, tables }) => {
    if (tables !== undefined) return [...tables];
    return request.tables.map(({ name, inputDim, outputDim }) => {
      const fits = source.tables
        .map((_, place) => place)
        .filter((place) => {
          const { rows, columns } = source.tables[place]!.layout;
          return !isTaken.has(place) && rows === inputDim && columns === outputDim;
        });
      const isNamed = (place: number): boolean => {
        const full = source.tables[place]!.name;
        return name !== undefined && (full === name || full.endsWith(`/${name}`));
      };
      const found = fits.find(isNamed) ?? fits[0] ?? null;
      if (found !== null) isTaken.add(found);
      return found;
    });
  });
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
  const batchSizes: number[] = [];
  const assumptions: string[] = [];
  let [plannedAgain, hostBandwidth] = [false, Infinity];

  source.plans.forEach((reported, number) => {
    const asked = readRequest(reported.request);
    const { batchSize, hotness, assumption } = measuredOf(source, reported, asked);
    const args = { ...reported.request, worldSize: devices, batchSize, hotness };
    const isSame = reported.plan.ranks.length === devices;
    const plan = isSame ? reported.plan : planFor(reported, args, chips);
    plannedAgain ||= !isSame;
    batchSizes.push(batchSize);
    const request = readRequest(args);
    hostBandwidth = Math.min(hostBandwidth, request.machine.hostBandwidth);
    stepLoads(request, plan).forEach((load, device) => loads[device]!.push(load));
    tableLayouts(plan, request.tables).forEach((layout, table) => {
      addLayout(wanted, layout, 'tables');
      const place = places[number]![table];
      for (const { columns } of place === null ? [] : source.tables[place!]!.slots) {
        addLayout(wanted, slotLayout(layout, columns), 'slots');
      }
    });
    assumptions.push(source.plans.length === 1 ? assumption : `${reported.name}: ${assumption}`);
  });
  if (plannedAgain) {
    const now = counted(source.chips * source.coresPerChip, 'device');
    assumptions.push(`the plans were made again for ${counted(devices, 'device')}, as they were for ${now}`);
  }
  const inPlans = new Set(places.flat());
  const outside = source.tables.filter((_, place) => !inPlans.has(place));
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
