/** How large the terms of each result are: what rounding may amount to is measured against their sum. */
import type { BagCase } from './bag_cases.js';

/** |weight / divisor| of each id. */
function factors({ bags, options }: BagCase): Float64Array {
  const { values, rowSplits, weights } = bags;
  const sizes = new Float64Array(values.length);
  for (let b = 0; b + 1 < rowSplits.length; b++) {
    let divisor = 0;
    for (let i = rowSplits[b]!; i < rowSplits[b + 1]!; i++) {
      const w = weights === null ? 1 : weights[i]!;
      divisor += options.combiner === 'mean' ? w : w * w;
    }
    if (options.combiner === 'sum') divisor = 1;
    if (options.combiner === 'sqrtn') divisor = Math.sqrt(divisor);
    for (let i = rowSplits[b]!; i < rowSplits[b + 1]!; i++) {
      sizes[i] = divisor === 0 ? 0 : Math.abs((weights === null ? 1 : weights[i]!) / divisor);
    }
  }
  return sizes;
}

/** sum |w e| of each pooled value, [batch * dim]. */
export function pooledMagnitudes(example: BagCase): Float64Array {
  const { table, bags } = example;
  const sizes = factors(example);
  const sums = new Float64Array((bags.rowSplits.length - 1) * table.dim);
  for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
    for (let i = bags.rowSplits[b]!; i < bags.rowSplits[b + 1]!; i++) {
      for (let c = 0; c < table.dim; c++) {
        const e = table.data[bags.values[i]! * table.dim + c] ?? 0;
        sums[b * table.dim + c]! += sizes[i]! * Math.abs(e);
      }
    }
  }
  return sums;
}

/** The largest sum |w g| over the occurrences of one row: one number for a whole case. */
export function gradientMagnitude(example: BagCase): number {
  const sizes = factors(example);
  const sums = new Map<number, number>();
  example.bags.values.forEach((id, i) => sums.set(id, (sums.get(id) ?? 0) + sizes[i]!));
  const largest = example.gradient.reduce((most, g) => Math.max(most, Math.abs(g)), 0);
  return largest * [...sums.values()].reduce((most, each) => Math.max(most, each), 0);
}

/** Bound on the terms of a gradient of weights: one number for a whole case. */
export function weightsGradientMagnitude(example: BagCase): number {
  const { bags, table } = example;
  const sizes = factors(example);
  let most = 0;
  for (let i = 0; i < sizes.length; i++) {
    const w = bags.weights === null ? 1 : Math.abs(bags.weights[i]!);
    if (w > 0) most = Math.max(most, sizes[i]! / w);
  }
  // Dot products of up to `dim` terms below 1, taken twice, over the divisor.
  return 2 * table.dim * Math.max(most, 1);
}
