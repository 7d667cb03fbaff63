/** Plans that fit into the memory of devices with the slots that optimizers make, where one does. */
import { planEmbedding } from '../planner.js';
import type { EmbeddingPlan } from '../plan.js';
import type { PlanEmbeddingArgs } from '../plan_request.js';

/** Slots of a table's size: Adam has two, Adagrad one, SGD none. What an optimizer needs is known only at its first step. */
const SLOTS = [2, 1, 0];
/** How often tables are cut in half to find pieces that fit. */
const MOST_CUTS = 16;

/** Bytes of tables on the fullest device. */
export function fullest(plan: EmbeddingPlan): number {
  return plan.ranks.reduce((most, { predicted }) => Math.max(most, predicted?.bytesMemory ?? 0), 0);
}

/** The plan that is asked for, else ones that cut tables more and more, and place pieces where least is. */
function* candidates(args: PlanEmbeddingArgs, asked: EmbeddingPlan): Generator<EmbeddingPlan> {
  yield asked;
  const whole = args.columnSliceThreshold === undefined || args.columnSliceThreshold === null;
  if (!whole || (args.rowSliceThreshold ?? null) !== null || args.worldSize === 1) return;
  const evenly = { ...args, strategy: 'memory_optimized' as const };
  yield planEmbedding(evenly);
  let threshold = Math.max(...args.tables.map(({ inputDim, outputDim }) => inputDim * outputDim));
  const narrowest = Math.min(...args.tables.map(({ inputDim }) => inputDim));
  for (let cut = 0; cut < MOST_CUTS && threshold > narrowest; cut++) {
    threshold = Math.ceil(threshold / 2);
    yield planEmbedding({ ...evenly, columnSliceThreshold: threshold });
  }
  for (const rowSliceThreshold of [...new Set(args.tables.map(({ inputDim, outputDim }) => inputDim * outputDim))]
    .sort((a, b) => b - a)
    .slice(0, MOST_CUTS)) {
    yield planEmbedding({ ...evenly, rowSliceThreshold });
  }
}

/**
 * The plan that is asked for where each device has room for it, with as many slots as fit anywhere; else one that cuts
 * tables so that they fit; where none fits the one that is asked for. `room`: bytes that each device has left. Tables that
 * the caller has cut by a threshold stay as that says. `saved`: a plan that comes before all of them, where there is one.
 */
export function fittingPlan(args: PlanEmbeddingArgs, room: number, saved: EmbeddingPlan | null = null): EmbeddingPlan {
  const planned = planEmbedding(args);
  const asked = saved ?? planned;
  const fits = (plan: EmbeddingPlan, slots: number): boolean => (1 + slots) * fullest(plan) <= room;
  if (fits(asked, SLOTS[0]!)) return asked;
  const found = [...(saved === null ? [] : [saved]), ...candidates(args, planned)];
  for (const slots of SLOTS) {
    const fitting = found.find((plan) => fits(plan, slots));
    if (fitting === undefined) continue;
    if (fitting !== asked) {
      const note = `tables are cut and placed so that ${slots} slots of their size fit into ${room} bytes of each device`;
      fitting.notes = [...(fitting.notes ?? []), note];
    }
    return fitting;
  }
  return asked;
}
