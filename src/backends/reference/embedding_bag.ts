/** Reference for `EmbeddingBag`: pooled rows. */
import type { BagOptions, HostBags, HostTable } from '../kernel_set.js';
import { bagRange, checkIds, divideNoNan, divisor, inRange, rowScale, weightAt } from './bags.js';

/** Writes pooled [batch * dim]. */
export function embeddingBag(table: HostTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
  checkIds(bags, table.rows, options);
  for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
    pooled.set(pooledRow(table, bags, b, options), b * table.dim);
  }
}

/** One pooled row, in double. */
function pooledRow(table: HostTable, bags: HostBags, b: number, options: BagOptions): number[] {
  const { first, end } = bagRange(bags, b);
  const sums = new Array<number>(table.dim).fill(0);
  for (let i = first; i < end; i++) {
    const id = bags.values[i]!;
    if (!inRange(id, table.rows)) continue;
    const factor = weightAt(bags, i) * rowScale(table, id, options);
    for (let c = 0; c < table.dim; c++) sums[c]! += factor * table.data[id * table.dim + c]!;
  }
  const divideBy = divisor(bags, b, options);
  return sums.map((sum) => divideNoNan(sum, divideBy));
}
