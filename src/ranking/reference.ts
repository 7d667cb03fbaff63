/** The kernels of ranking in plain TypeScript: slow, and what the others are compared with. */
import { checkIds } from '../backends/kernel_set.js';
import {
  floatRows,
  type FoldInJob,
  type IdLists,
  type ListScanJob,
  type RankJob,
  type RankingKernels,
  type TopKJob,
} from '../backends/ranking.js';

function idsOf({ values, rowSplits }: IdLists, query: number): Int32Array {
  return values.subarray(rowSplits[query]!, rowSplits[query + 1]!);
}

/** Puts an entry into a list, the best first and the lower id before its equals; the last one falls out. */
function insert(values: Float32Array, ids: Int32Array, value: number, id: number): void {
  // Mostly it is worse than all that are there.
  if (value <= values.at(-1)! && ids.at(-1)! >= 0 && ids.at(-1)! < id) return;
  const place = values.findIndex((other, i) => value > other || (value === other && (ids[i]! < 0 || id < ids[i]!)));
  if (place < 0) return;
  values.copyWithin(place + 1, place);
  ids.copyWithin(place + 1, place);
  values[place] = value;
  ids[place] = id;
}

function productOf(queries: Float32Array, query: number, row: Float32Array): number {
  let product = 0;
  for (let c = 0; c < row.length; c++) product += queries[query * row.length + c]! * row[c]!;
  return Math.fround(product);
}

function topK({ table, firstRow, queries, count, k, exclude, only, values, indices }: TopKJob): void {
  const { rows } = table;
  const excluded = Array.from({ length: count }, (_, q) => new Set(exclude === null ? [] : idsOf(exclude, q)));
  const named = only === null ? null : Array.from({ length: count }, (_, q) => new Set(idsOf(only, q)));
  for (let r = 0; r < rows; r++) {
    const row = floatRows(table, r, 1);
    const id = firstRow + r;
    for (let q = 0; q < count; q++) {
      if (excluded[q]!.has(id) || named?.[q]!.has(id) === false) continue;
      const value = productOf(queries, q, row);
      if (value > -Infinity)
        insert(values.subarray(q * k, (q + 1) * k), indices.subarray(q * k, (q + 1) * k), value, id);
    }
  }
}

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

/** The solution of A x = b by Cholesky's decomposition, A [n, n] symmetric, both overwritten. */
function solve(matrix: Float64Array, x: Float64Array): void {
  const n = x.length;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j]!;
      for (let c = 0; c < j; c++) sum -= matrix[i * n + c]! * matrix[j * n + c]!;
      matrix[i * n + j] = i === j ? Math.sqrt(sum) : sum / matrix[j * n + j]!;
    }
  }
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < i; c++) x[i]! -= matrix[i * n + c]! * x[c]!;
    x[i]! /= matrix[i * n + i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let c = i + 1; c < n; c++) x[i]! -= matrix[c * n + i]! * x[c]!;
    x[i]! /= matrix[i * n + i]!;
  }
}

function foldIn({ table, bags, regularization, gram, out }: FoldInJob): void {
  const { rows, dim } = table;
  const { values, rowSplits, weights } = bags;
  checkIds(values, rows);
  for (let bag = 0; bag + 1 < rowSplits.length; bag++) {
    const x = new Float64Array(dim);
    if (rowSplits[bag]! < rowSplits[bag + 1]!) {
      const matrix = gram === null ? new Float64Array(dim * dim) : Float64Array.from(gram);
      for (let i = 0; i < dim; i++) matrix[i * dim + i]! += regularization;
      for (let at = rowSplits[bag]!; at < rowSplits[bag + 1]!; at++) {
        const weight = weights?.[at] ?? 1;
        const row = floatRows(table, values[at]!, 1);
        for (let i = 0; i < dim; i++) {
          x[i]! += weight * row[i]!;
          for (let j = 0; j < dim; j++) matrix[i * dim + j]! += weight * row[i]! * row[j]!;
        }
      }
      solve(matrix, x);
    }
    out.set(x, bag * dim);
  }
}

export const referenceKernels: RankingKernels & Required<Pick<RankingKernels, 'rankRows'>> = {
  topK,
  scanLists,
  rankRows,
  foldIn,
};
