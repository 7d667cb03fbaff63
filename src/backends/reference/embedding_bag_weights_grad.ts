/** Reference for `EmbeddingBagWeightsGrad`: gradient with respect to the per-id weights. */
import type { BagOptions, HostBags, HostTable } from '../kernel_set.js';
import { bagRange, checkIds, divideNoNan, divisor, inRange, rowScale, weightAt } from './bags.js';

/** Writes out [nnz]. */
export function embeddingBagWeightsGrad(
  table: HostTable,
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  out: Float32Array,
): void {
  checkIds(bags, table.rows, options);
  for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
    const { first, end } = bagRange(bags, b);
    // dots[i] = looked-up row i . gradient of the bag
    const dots: number[] = [];
    for (let i = first; i < end; i++) dots.push(dot(table, bags.values[i]!, gradient, b, options));
    const divideBy = divisor(bags, b, options);
    // What the bag's own divisor takes back when a weight grows, per unit of its derivative.
    const total = dots.reduce((sum, value, i) => sum + weightAt(bags, first + i) * value, 0);
    dots.forEach((value, i) => {
      out[first + i] = weightGradient(value, weightAt(bags, first + i), total, divideBy, options);
    });
  }
}

function weightGradient(value: number, weight: number, total: number, divideBy: number, options: BagOptions): number {
  switch (options.combiner) {
    case 'sum':
      return value;
    case 'mean':
      return divideNoNan(value - divideNoNan(total, divideBy), divideBy);
    case 'sqrtn':
      return divideNoNan(value, divideBy) - divideNoNan(weight * total, divideBy ** 3);
  }
}

function dot(table: HostTable, id: number, gradient: Float32Array, b: number, options: BagOptions): number {
  if (!inRange(id, table.rows)) return 0;
  let sum = 0;
  for (let c = 0; c < table.dim; c++) sum += table.data[id * table.dim + c]! * gradient[b * table.dim + c]!;
  return sum * rowScale(table, id, options);
}
