/** What was looked up under a plan, and which tables on the devices are the plan's. */
import type { PlanRequest } from '../partition/plan_request.js';
import type { ServedInputs } from '../backends/devices/machine/counters.js';
import type { ReportedPlan, ReportSource } from '../backends/devices/report_source.js';
import { bagsPerSample } from '../partition/step_load.js';
import { counted, wholeText } from '../base/units.js';

/** What a step looks up. */
export interface Measured {
  readonly batchSize: number;
  /** Ids, bags and weights of each input, per sample. */
  readonly hotness: readonly number[];
  readonly bags: readonly number[];
  readonly weights: readonly number[];
  readonly assumption: string;
}

/** Means: samples of a call, ids, bags and weights of each input per sample. */
export function perSample({ calls, samples, ids, bags, weights }: ServedInputs): {
  batch: number;
  hotness: number[];
  bags: number[];
  weights: number[];
} {
  const each = (sums: readonly number[]): number[] =>
    samples.map((count, input) => (count === 0 ? 0 : sums[input]! / count));
  const batch = Math.max(0, ...samples) / calls;
  return { batch, hotness: each(ids), bags: each(bags), weights: each(weights) };
}

/** Batch, ids and bags per sample as counted, in training where there was some; else as the plan was asked for. */
export function measuredOf({ measured }: ReportedPlan, asked: PlanRequest): Measured {
  const isTrained = (measured?.training.calls ?? 0) > 0;
  const served = isTrained ? measured?.training : measured?.all;
  if (served === undefined || served.calls === 0) {
    const { batchSize, hotness } = asked;
    const asPlanned = `batch ${wholeText(batchSize)} and ids per sample as the plan was asked for, without weights`;
    const weights = hotness.map(() => 0);
    const assumption = `nothing was looked up yet: ${asPlanned}`;
    return { batchSize, hotness, bags: bagsPerSample(asked), weights, assumption };
  }
  const { batch, hotness, bags, weights } = perSample(served);
  const batchSize = Math.max(1, Math.round(batch));
  const what = counted(served.calls, isTrained ? 'training step' : 'call');
  return {
    batchSize,
    hotness,
    bags,
    weights,
    assumption: `batch ${wholeText(batchSize)} and ids per sample as measured in ${what}`,
  };
}

/** Places of the tables of each plan among the reported ones: as told, else by name and size. */
export function placesOfTables(source: ReportSource): (number | null)[][] {
  return source.plans.map(({ request, tables }) => {
    if (tables !== undefined) return [...tables];
    return request.tables.map(({ name, inputDim, outputDim }) => {
      const found = source.tables.findIndex(({ name: full, layout: { rows, columns } }) => {
        const isNamed = name !== undefined && `/${full}/`.includes(`/${name}/`);
        return isNamed && rows === inputDim && columns === outputDim;
      });
      return found < 0 ? null : found;
    });
  });
}
