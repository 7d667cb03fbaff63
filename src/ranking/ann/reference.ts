/** The kernels of an index in plain TypeScript: what the others are compared with. */
import { checkIds } from '../../backends/kernel_set.js';
import { floatRows, type ListKernels, type ListScanJob, type RankJob } from '../../backends/ranking.js';
import { idsOf, insert, productOf } from '../reference.js';

function scanLists(job: ListScanJob): void {
  const { table, ids, starts, ends, members, splits, queries, count, k, exclude, values, indices } = job;
  const excluded = Array.from({ length: count }, (_, q) => new Set(exclude === null ? [] : idsOf(exclude, q)));
  for (let list = 0; list < starts.length; list++) {
    if (splits[list] === splits[list + 1]) continue;
    for (let r = starts[list]!; r < ends[list]!; r++) {
      const row = floatRows(table, r, 1);
      const id = ids[r]!;
      for (const q of members.subarray(splits[list], splits[list + 1])) {
        const value = productOf(queries, q, row);
        if (excluded[q]!.has(id) || !(value > -Infinity)) continue;
        insert(values.subarray(q * k, (q + 1) * k), indices.subarray(q * k, (q + 1) * k), value, id);
      }
    }
  }
}

/**
 * The product of two rows in double precision, in which each product of two float32 is exact; column c belongs to sum
 * c % 8, as in custom-ops/kernels/ranking/rank_rows.c.
 */
function exactDot(a: Float32Array, atA: number, b: Float32Array, atB: number, dim: number): number {
  let [s0, s1, s2, s3, s4, s5, s6, s7] = [0, 0, 0, 0, 0, 0, 0, 0];
  let c = 0;
  for (; c + 8 <= dim; c += 8) {
    s0 += a[atA + c]! * b[atB + c]!;
    s1 += a[atA + c + 1]! * b[atB + c + 1]!;
    s2 += a[atA + c + 2]! * b[atB + c + 2]!;
    s3 += a[atA + c + 3]! * b[atB + c + 3]!;
    s4 += a[atA + c + 4]! * b[atB + c + 4]!;
    s5 += a[atA + c + 5]! * b[atB + c + 5]!;
    s6 += a[atA + c + 6]! * b[atB + c + 6]!;
    s7 += a[atA + c + 7]! * b[atB + c + 7]!;
  }
  const rest = (i: number): number => (c + i < dim ? a[atA + c + i]! * b[atB + c + i]! : 0);
  if (c < dim) {
    [s0, s1, s2, s3] = [s0 + rest(0), s1 + rest(1), s2 + rest(2), s3 + rest(3)];
    [s4, s5, s6] = [s4 + rest(4), s5 + rest(5), s6 + rest(6)];
  }
  return s0 + s4 + (s2 + s6) + (s1 + s5 + (s3 + s7));
}

/** The best of one query, the best first; of equals the lower id. */
class Best {
  count = 0;
  readonly values: Float64Array;
  readonly ids: Int32Array;

  constructor(readonly most: number) {
    this.values = new Float64Array(most);
    this.ids = new Int32Array(most);
  }

  take(value: number, id: number): void {
    const { values, ids, most } = this;
    let at = this.count;
    while (at > 0 && (value > values[at - 1]! || (value === values[at - 1]! && id < ids[at - 1]!))) at--;
    if (at === most) return;
    const end = Math.min(this.count, most - 1);
    values.copyWithin(at + 1, at, end);
    ids.copyWithin(at + 1, at, end);
    values[at] = value;
    ids[at] = id;
    this.count = end + 1;
  }
}

function rankRows({ table, ids, queries, count, candidates, m, k, values, indices }: RankJob): void {
  const { codec, dim, rows } = table;
  checkIds(
    candidates.map((row) => Math.max(0, row)),
    Math.max(rows, candidates.length === 0 ? 1 : 0),
  );
  for (let q = 0; q < count; q++) {
    const best = new Best(k);
    for (const row of candidates.subarray(q * m, (q + 1) * m)) {
      if (row < 0) continue;
      const [numbers, at] = codec.isPlain ? [table.data as Float32Array, row * dim] : [floatRows(table, row, 1), 0];
      const value = exactDot(queries, q * dim, numbers, at, dim);
      if (Math.fround(value) > -Infinity) best.take(value, ids?.[row] ?? row);
    }
    values.fill(-Infinity, q * k, (q + 1) * k).set(best.values.subarray(0, best.count), q * k);
    indices.fill(-1, q * k, (q + 1) * k).set(best.ids.subarray(0, best.count), q * k);
  }
}

export const plainKernels: ListKernels = { scanLists, rankRows };
