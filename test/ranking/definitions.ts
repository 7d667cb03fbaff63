/** Losses and metrics of lists, and the best rows, once more: from their documentation alone, one row after the other. */

/** An item of a list. */
export interface Item {
  readonly label: number;
  readonly score: number;
  /** Of the item, or of its row. */
  readonly weight: number;
  /** false: masked. */
  readonly counts: boolean;
}
export type Row = readonly Item[];

export type ListLoss =
  | 'pairwiseLogistic'
  | 'pairwiseHinge'
  | 'pairwiseSoftZeroOne'
  | 'pairwiseMeanSquared'
  | 'listSoftmax'
  | 'listMLE'
  | 'sigmoidCrossEntropyFromLogits';

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
const logSumExp = (values: readonly number[]): number => {
  const most = Math.max(...values);
  return most + Math.log(sum(values.map((value) => Math.exp(value - most))));
};
const isValid = ({ label, counts }: Item): boolean => counts && label >= 0;

/** What a pair costs, by the difference of its scores. */
const OF_PAIR: Readonly<Record<string, (difference: number) => number>> = {
  pairwiseLogistic: (difference) => softplus(-difference),
  pairwiseHinge: (difference) => Math.max(0, 1 - difference),
  pairwiseSoftZeroOne: (difference) => 1 / (1 + Math.exp(difference)),
};

/** The loss of a row. */
export function listLoss(name: ListLoss, row: Row, temperature: number): number {
  const valid = row.filter(isValid);
  const ofPair = OF_PAIR[name];
  if (ofPair !== undefined) {
    const ofItem = (a: Item): number =>
      sum(valid.filter((b) => a.label > b.label).map((b) => ofPair((a.score - b.score) / temperature)));
    return sum(valid.map((item) => item.weight * ofItem(item))) / row.length;
  }
  if (name === 'pairwiseMeanSquared') {
    const ofItem = (a: Item): number => sum(valid.map((b) => (a.label - b.label - (a.score - b.score)) ** 2));
    return sum(valid.map((item) => item.weight * ofItem(item))) / row.length;
  }
  if (name === 'sigmoidCrossEntropyFromLogits') {
    const ofItem = ({ label, score }: Item): number => softplus(score) - score * label;
    return sum(valid.map((item) => item.weight * ofItem(item))) / Math.max(valid.length, 1);
  }
  const ofRow = row[0]!.weight;
  if (valid.length === 0) return 0;
  const logits = valid.map(({ score }) => score / temperature);
  if (name === 'listSoftmax') {
    const all = logSumExp(logits);
    return ofRow * sum(valid.map(({ label }, i) => label * (all - logits[i]!)));
  }
  // ListMLE: drawn in the order of labels, of equal ones in that of the list.
  const order = valid.map((_, i) => i).sort((a, b) => valid[b]!.label - valid[a]!.label || a - b);
  return ofRow * sum(order.map((at, i) => logSumExp(order.slice(i).map((each) => logits[each]!)) - logits[at]!));
}

export type RankedMetric = 'recallAtK' | 'precisionAtK' | 'hitRateAtK' | 'mrr' | 'map' | 'dcgAtK' | 'ndcgAtK';

export interface RankedOptions {
  readonly name: RankedMetric;
  readonly k?: number | null | undefined;
  readonly emptyAs?: number | undefined;
  readonly gain?: 'linear' | 'exponential' | undefined;
  readonly divisor?: 'positives' | 'min(k, positives)' | undefined;
}

/** The metric of a row; null: it has no positive. */
function ofRow({ name, k, gain = 'exponential', divisor = 'positives' }: RankedOptions, row: Row): number | null {
  const most = Math.min(k ?? Infinity, row.length);
  const valid = row.filter(isValid);
  const isGraded = name === 'dcgAtK' || name === 'ndcgAtK';
  const positives = valid.filter(({ label }) => (isGraded ? label > 0 : label >= 1)).length;
  if (positives === 0) return null;
  // Sorts of JavaScript keep the order of equal items.
  const ranked = [...valid].sort((a, b) => b.score - a.score).slice(0, most);
  const hits = ranked.map(({ label }) => Number(label >= 1));
  const first = hits.indexOf(1) + 1;
  const gains = (items: Row): number =>
    sum(items.map(({ label }, i) => (gain === 'linear' ? label : 2 ** label - 1) / Math.log2(i + 2)));
  switch (name) {
    case 'recallAtK':
      return sum(hits) / positives;
    case 'precisionAtK':
      return sum(hits) / Math.min(most, valid.length);
    case 'hitRateAtK':
      return Math.min(first, 1);
    case 'mrr':
      return first === 0 ? 0 : 1 / first;
    case 'map': {
      const precisions = hits.map((hit, i) => (hit * sum(hits.slice(0, i + 1))) / (i + 1));
      return sum(precisions) / (divisor === 'positives' ? positives : Math.min(positives, most));
    }
    case 'dcgAtK':
      return gains(ranked);
    case 'ndcgAtK':
      return gains(ranked) / gains([...valid].sort((a, b) => b.label - a.label).slice(0, most));
  }
}

/** The sum of a metric over rows, each times its weight, and the sum of the weights of rows that count. */
export function rankedMetric(options: RankedOptions, rows: readonly Row[]): { sum: number; weight: number } {
  const parts = rows.flatMap((row) => {
    const value = ofRow(options, row) ?? options.emptyAs ?? null;
    return value === null ? [] : [{ value, weight: row[0]!.weight }];
  });
  return {
    sum: sum(parts.map(({ value, weight }) => value * weight)),
    weight: sum(parts.map(({ weight }) => weight)),
  };
}

/** The best rows of each query. */
export interface Ranked {
  readonly values: number[][];
  readonly indices: number[][];
}

/** Everything that a query may find, sorted by plain definitions. */
export function plainTopK(
  queries: number[][],
  rows: number[][],
  k: number,
  { exclude, only }: { exclude?: number[][]; only?: number[][] } = {},
): Ranked {
  const lists = queries.map((query, q) =>
    rows
      .map((row, id) => ({ id, value: Math.fround(row.reduce((sum, x, c) => sum + x * query[c]!, 0)) }))
      .filter(({ id, value }) => value > -Infinity && exclude?.[q]!.includes(id) !== true)
      .filter(({ id }) => only?.[q]!.includes(id) ?? true)
      .sort((a, b) => b.value - a.value || a.id - b.id),
  );
  const places = Array.from({ length: k }, (_, i) => i);
  return {
    values: lists.map((list) => places.map((i) => list[i]?.value ?? -Infinity)),
    indices: lists.map((list) => places.map((i) => list[i]?.id ?? -1)),
  };
}
