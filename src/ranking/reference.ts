/** The kernels of ranking in plain TypeScript: slow, and what the others are compared with. */
import { checkIds } from '../backends/kernel_set.js';
import { floatRows, type FoldInJob, type IdLists, type RankingKernels, type TopKJob } from '../backends/ranking.js';

export function idsOf({ values, rowSplits }: IdLists, query: number): Int32Array {
  return values.subarray(rowSplits[query]!, rowSplits[query + 1]!);
}

/** Puts an entry into a list, the best first and the lower id before its equals; the last one falls out. */
export function insert(values: Float32Array, ids: Int32Array, value: number, id: number): void {
  // Mostly it is worse than all that are there.
  if (value <= values.at(-1)! && ids.at(-1)! >= 0 && ids.at(-1)! < id) return;
  const place = values.findIndex((other, i) => value > other || (value === other && (ids[i]! < 0 || id < ids[i]!)));
  if (place < 0) return;
  values.copyWithin(place + 1, place);
  ids.copyWithin(place + 1, place);
  values[place] = value;
  ids[place] = id;
}

export function productOf(queries: Float32Array, query: number, row: Float32Array): number {
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

export const referenceKernels: RankingKernels = { topK, foldIn };
