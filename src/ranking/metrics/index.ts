/** Metrics of ranking, for `compile`, as functions, and over batches. */
import { nameFunctions } from '../../tfjs/training/named_functions.js';
import type { Metric } from './metric.js';
import { auc, logLoss } from './probabilities.js';
import { dcgAtK, hitRateAtK, map, mrr, ndcgAtK, precisionAtK, recallAtK, type RankedMetricArgs } from './ranked.js';

/** With ranks in their names. */
const RANKED: Readonly<Record<string, (args?: RankedMetricArgs) => Metric>> = {
  recall: recallAtK,
  precision: precisionAtK,
  hitRate: hitRateAtK,
  ndcg: ndcgAtK,
  dcg: dcgAtK,
  mrr,
  map,
};
const NAMES = new Map(
  Object.entries({ recallAtK, precisionAtK, hitRateAtK, ndcgAtK, dcgAtK, mrr, map, auc, logLoss }) as [
    string,
    () => Metric,
  ][],
);

function named(name: string): Metric | null {
  const [, kind, k] = /^([a-zA-Z]+)At([1-9][0-9]*)$/.exec(name) ?? [];
  if (kind !== undefined && Object.hasOwn(RANKED, kind)) return RANKED[kind]!({ k: Number(k) });
  return NAMES.get(name)?.() ?? null;
}

/** Has `compile` take these metrics by name: `'auc'`, `'recallAt20'`. */
export function nameMetrics(): void {
  nameFunctions('metrics', named);
}

export { auc, logLoss } from './probabilities.js';
export {
  dcgAtK,
  hitRateAtK,
  map,
  mrr,
  ndcgAtK,
  precisionAtK,
  recallAtK,
  type GainArgs,
  type MeanAveragePrecisionArgs,
  type RankedMetricArgs,
} from './ranked.js';
export type { Metric } from './metric.js';
