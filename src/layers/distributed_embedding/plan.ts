/** The plan that a `DistributedEmbedding` follows on the backend in use. */
import { couplesColumns, updateOf } from '../../rules/rules.js';
import * as tf from '@tensorflow/tfjs';
import type { Devices } from '../../backends/contract.js';
import { devicesInUse } from '../../backends/registry.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { checkPlan } from '../../partition/check_plan.js';
import { GROUP_NAMES, type EmbeddingPlan, type PlanData } from '../../partition/plan.js';
import { PLACEMENT_FIELDS, type PlanEmbeddingArgs } from '../../partition/plan_request.js';
import type { PlanTableArgs } from '../../partition/plan_table.js';
import { fittingPlan, fullest } from '../../partition/strategies/fitting_plan.js';
import { planEmbedding } from '../../partition/planner.js';
import { readPlan } from '../../partition/read_plan.js';
import { tableLayouts, type TableLayout } from '../../partition/table_layout.js';
import { warnOnce } from '../../base/warn_once.js';
import { rowConstraintOf } from '../../tables/constraints.js';
import type { DistributedEmbeddingArgs } from './arguments.js';
import type { DistributedFeatures, DistributedTable } from './features.js';
import { serializeRegistered } from '../../tables/registered_objects.js';

/** A plan that the user made. From a config it is followed only on as many devices, where these have room for it. */
export interface ForcedPlan {
  readonly plan: EmbeddingPlan;
  readonly isFromConfig: boolean;
}

/** The tables as the planner sees them. */
function planTables({ tables, features }: DistributedFeatures): PlanTableArgs[] {
  return tables.map(({ name, table }, number) => {
    const uses = features.filter((feature) => feature.table === number);
    const { inputDim, outputDim, initializer, optimizer, regularizer, constraint } = table;
    const hasWholeRows =
      (optimizer !== null && couplesColumns(updateOf(optimizer))) ||
      (optimizer !== null && optimizer.settings.clipNorm !== null) ||
      rowConstraintOf(constraint)?.kind === 'rowNorm' ||
      uses.some(({ maxNorm }) => maxNorm !== null);
    return {
      name,
      inputDim,
      outputDim,
      combiner: uses[0]?.combiner ?? null,
      initializer: serializeRegistered(initializer),
      optimizer: optimizer === null ? null : { name: optimizer.optimizerName, settings: { ...optimizer.settings } },
      regularizer: serializeRegistered(regularizer),
      constraint: serializeRegistered(constraint),
      rowCoupled: hasWholeRows,
    };
  });
}

/** The planner reads lists long after the arguments of the layer were given. */
function copyOf(list: unknown): unknown {
  return Array.isArray(list) ? [...(list as unknown[])] : list;
}

/** What the planner is asked for, for any number of devices. */
export function planRequest(all: DistributedFeatures, args: Partial<DistributedEmbeddingArgs>): PlanEmbeddingArgs {
  const wishes: Record<string, unknown> = {};
  for (const field of PLACEMENT_FIELDS)
    if (args[field] !== undefined && args[field] !== null) wishes[field] = args[field];
  const { hotness } = wishes;
  if (hotness !== undefined) wishes['hotness'] = copyOf(hotness);
  return {
    hotness: all.hotness,
    ...wishes,
    tables: planTables(all),
    inputTableMap: all.features.map(({ table }) => table),
    worldSize: 1,
  };
}

/**
 * The plan in the arguments of a layer: data, JSON text, or `{name: <JSON text>}` as a config has it, which has `given`
 * where the plan is another than the one that was saved.
 */
export function readForcedPlan(value: unknown, request: PlanEmbeddingArgs): ForcedPlan | null {
  if (value === undefined || value === null) return null;
  const expected = 'a plan: what planEmbedding or readPlan gives, or its JSON text';
  const isText = isRecord(value) && typeof value['name'] === 'string';
  const stored = isText ? value['name'] : value;
  // One that is given for a saved model is the user's wish now, and no memory of another machine.
  const isFromConfig = isText && value['given'] !== true;
  if (typeof stored !== 'string' && !isRecord(stored)) throw new ArgumentTypeError('plan', expected, value);
  const plan = asPlan(stored as string | PlanData, expected);
  const problems = [...checkPlan(plan, request.tables), ...inputProblems(plan, request)];
  if (problems.length === 0) return { plan, isFromConfig };
  throw new ValueError('plan', 'a plan for the tables and inputs of the layer', described(problems.join('; ')));
}

function asPlan(stored: string | PlanData, expected: string): EmbeddingPlan {
  try {
    return readPlan(stored);
  } catch (error) {
    const { received } = error as { received?: string };
    throw new ValueError('plan', expected, described(received ?? 'something else'));
  }
}

/** Where a plan sends inputs to other tables than the layer does. */
function inputProblems(plan: PlanData, { inputTableMap, dpInput }: PlanEmbeddingArgs): string[] {
  const map = inputTableMap!;
  const problems: string[] = [];
  let count = 0;
  for (const name of GROUP_NAMES) {
    plan.inputGroups[name].forEach((input, place) => {
      count++;
      const table = plan.tableGroups[name][plan.mapGroups[name][place]!];
      if (map[input] !== table)
        problems.push(`inputGroups.${name}[${place}]: input ${input} has table ${map[input]}, not ${table}`);
    });
    if (dpInput === false && name !== 'tableParallel' && plan.inputGroups[name].length > 0) {
      problems.push(`inputGroups.${name}: expected none when dpInput is false, found ${plan.inputGroups[name].length}`);
    }
  }
  if (count !== map.length) problems.push(`inputGroups: expected ${map.length} inputs, found ${count}`);
  return problems;
}

/** The plan for the devices in force, made anew where these have changed. */
export class PlanInForce {
  plan: EmbeddingPlan | null = null;
  layouts: readonly TableLayout[] = [];
  #devices: Devices | null = null;
  #isInForce = false;

  constructor(
    /** For any number of devices. */
    readonly request: PlanEmbeddingArgs,
    private readonly forced: ForcedPlan | null,
    private readonly tables: readonly DistributedTable[],
  ) {
    // Whatever is wrong with the arguments is wrong on any machine.
    planEmbedding(request);
  }

  /** The devices of the backend in use; null where tables lie in its own memory. */
  get devices(): Devices | null {
    return this.#devices;
  }

  /** Plans where there is no plan for the devices of the backend in use yet; returns whether they have changed. */
  refresh(): boolean {
    const devices = devicesInUse();
    if (this.#isInForce && devices === this.#devices) return false;
    if (devices === null) checkPlacements(this.tables);
    this.plan = this.#planFor(devices);
    this.#isInForce = true;
    this.#devices = devices;
    const sizes = this.request.tables.map(({ inputDim: rows, outputDim: columns }) => ({ rows, columns }));
    this.layouts = tableLayouts(this.plan, sizes);
    return true;
  }

  /** The tables do not lie as planned: plan again at the next call. */
  forget(): void {
    this.#isInForce = false;
  }

  /** Reports of the devices show the plan under a name, and find its tables. */
  tell(owner: object, name: string, tables: () => readonly tf.Variable[]): void {
    const worldSize = this.#devices?.count ?? 1;
    this.#devices?.followPlan(owner, { name, request: { ...this.request, worldSize }, plan: this.plan!, tables });
  }

  /** The layer was disposed. tfjs remembers the layers of its last hundred models, which must keep no devices alive. */
  release(owner: object): void {
    this.#devices?.followPlan(owner, null);
    this.#devices = null;
    this.plan = null;
    this.layouts = [];
    this.forget();
  }

  #planFor(devices: Devices | null): EmbeddingPlan {
    const worldSize = devices?.count ?? 1;
    const planned = this.forced?.plan.ranks.length;
    const room = devices?.roomOfEach ?? null;
    if (planned !== undefined && planned !== worldSize && devices !== null) this.#sayUnused(planned, worldSize);
    const deviceMemory = this.request.deviceMemory ?? devices?.deviceMemory ?? null;
    const asked = { ...this.request, worldSize, deviceMemory };
    if (planned === worldSize) return room === null ? this.forced!.plan : this.#whereThereIsRoom(asked, room);
    return room === null ? planEmbedding(asked) : fittingPlan(asked, room);
  }

  /** The plan by hand; where it was saved, and another one leaves more room for slots, that one, which is said. */
  #whereThereIsRoom(asked: PlanEmbeddingArgs, room: number): EmbeddingPlan {
    const { plan, isFromConfig } = this.forced!;
    const bytes = fullest(plan);
    const text = `a plan with ${bytes} bytes on a device, where each has room for ${room}`;
    if (!isFromConfig) {
      if (bytes <= room) return plan;
      throw new ValueError('plan', 'one that fits into the memory of each device', described(text));
    }
    const found = fittingPlan(asked, room, plan);
    if (found !== plan) {
      warnOnce(`${text}, slots of optimizers included, is not followed: tables are placed by a plan of their own.`);
    }
    return found;
  }

  /** A plan by hand is for one machine. A model that was saved with it may run on any. */
  #sayUnused(planned: number, worldSize: number): void {
    if (this.plan === null && !this.forced!.isFromConfig) {
      throw new ValueError(
        'plan',
        `a plan for the ${worldSize} devices of the backend`,
        described(`one for ${planned}`),
      );
    }
    warnOnce(
      `a plan for ${planned} devices is not followed on ${worldSize}: tables are placed by a plan of their own.`,
    );
  }
}

/** Some tables insist on devices. */
function checkPlacements(tables: readonly DistributedTable[]): void {
  const first = tables.find(({ config }) => config?.placement === 'sparsecore');
  if (first === undefined) return;
  const expected = `a backend with devices (tpu-emulator), because table ${first.name} has placement 'sparsecore'`;
  throw new ValueError('placement', expected, tf.getBackend());
}
