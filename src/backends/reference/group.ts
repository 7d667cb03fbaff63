/** Grouping of a batch's gradients by row: the sum over a row's occurrences, in double, ids ascending. */
import { checkIds, type BagOptions, type HostBags, type HostTable } from '../kernel_set.js';
import { bagRange, divideNoNan, divisor, inRange, rowNorm, rowScale, weightAt } from './bags.js';

/** Gradient of each touched row. A row that was looked up is there even where its gradient is zero. */
export type Groups = ReadonlyArray<{ readonly id: number; readonly gradient: number[] }>;

export function group(
  gradient: Float32Array,
  bags: HostBags,
  table: HostTable<Float32Array>,
  options: BagOptions,
): Groups {
  checkIds(bags.values, table.rows, options);
  const { rows, dim } = table;
  const sums = new Map<number, number[]>();
  for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
    const { first, end } = bagRange(bags, b);
    const divideBy = divisor(bags, b, options);
    for (let i = first; i < end; i++) {
      const id = bags.values[i]!;
      if (!inRange(id, rows)) continue;
      let sum = sums.get(id);
      if (sum === undefined) sums.set(id, (sum = new Array<number>(dim).fill(0)));
      const factor = divideNoNan(weightAt(bags, i), divideBy);
      for (let c = 0; c < dim; c++) sum[c]! += factor * gradient[b * dim + c]!;
    }
  }
  return [...sums.keys()]
    .sort((a, b) => a - b)
    .map((id) => ({ id, gradient: throughScaling(sums.get(id)!, table, id, options) }));
}

/*
 * With s = maxNorm / |e|, the looked-up row is s e and its derivative along G is s (G - e (e . G) / |e|^2): what points
 * along the row is lost, because its length is fixed.
 */
function throughScaling(sum: number[], table: HostTable<Float32Array>, id: number, options: BagOptions): number[] {
  const scale = rowScale(table, id, options);
  if (scale === 1) return sum;
  const norm = rowNorm(table, id);
  const row = table.data.subarray(id * table.dim, (id + 1) * table.dim);
  const along = sum.reduce((total, g, c) => total + g * row[c]!, 0) / norm ** 2;
  return sum.map((g, c) => scale * (g - row[c]! * along));
}
