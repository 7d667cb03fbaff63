/** Seeded cases: bags of many shapes, with repeats, empty bags and, where wanted, ids outside the table. */
import * as tf from '@tensorflow/tfjs';
import type { BagOptions, HostBags, HostTable } from '../../../src/backends/kernel_set.js';

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Case {
  readonly title: string;
  readonly table: HostTable;
  readonly bags: HostBags;
  readonly options: BagOptions;
  readonly gradient: Float32Array;
}

export function makeCase(seed: number, options: BagOptions, weighted: boolean, dim: number): Case {
  const random = randomNumbers(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  const rows = 1 + whole(40);
  const batch = whole(12);
  const rowSplits = new Int32Array(batch + 1);
  for (let b = 0; b < batch; b++) rowSplits[b + 1] = rowSplits[b]! + (random() < 0.3 ? 0 : whole(9));
  const nnz = rowSplits[batch]!;
  const stray = (): number =>
    options.outOfRange === 'zero' && random() < 0.2 ? (random() < 0.5 ? -1 - whole(5) : rows + whole(5)) : whole(rows);
  const values = Int32Array.from({ length: nnz }, stray);
  const weights = weighted ? Float32Array.from({ length: nnz }, () => random() * 2 - 0.5) : null;
  const data = Float32Array.from({ length: rows * dim }, () => random() * 2 - 1);
  const gradient = Float32Array.from({ length: batch * dim }, () => random() * 2 - 1);
  const title = `${options.combiner}, ${options.outOfRange}, maxNorm ${options.maxNorm}, ${weighted ? '' : 'no '}weights, dim ${dim}`;
  return { title, table: { data, rows, dim }, bags: { values, rowSplits, weights }, options, gradient };
}

/** Every combination of the attributes, with dimensions around the widths of vector registers. */
export function allCases(): Case[] {
  const cases: Case[] = [];
  let seed = 1;
  for (const combiner of ['sum', 'mean', 'sqrtn'] as const)
    for (const outOfRange of ['error', 'zero'] as const)
      for (const maxNorm of [0, 0.7])
        for (const weighted of [false, true])
          for (const dim of [1, 3, 8, 33])
            cases.push(makeCase((seed += 1), { combiner, outOfRange, maxNorm }, weighted, dim));
  return cases;
}

/** The case as tensors. The caller disposes them (or is in a tidy). */
export function tensorsOf({ table, bags, gradient }: Case): {
  table: tf.Tensor2D;
  gradient: tf.Tensor2D;
  values: tf.Tensor1D;
  rowSplits: tf.Tensor1D;
  weights: tf.Tensor1D | null;
} {
  const batch = bags.rowSplits.length - 1;
  return {
    table: tf.tensor2d(table.data.slice(), [table.rows, table.dim], 'float32'),
    gradient: tf.tensor2d(gradient.slice(), [batch, table.dim], 'float32'),
    values: tf.tensor1d(bags.values, 'int32'),
    rowSplits: tf.tensor1d(bags.rowSplits, 'int32'),
    weights: bags.weights === null ? null : tf.tensor1d(bags.weights, 'float32'),
  };
}

/** Fails unless |a - b| <= tolerance (1 + |b| + scale) everywhere. */
export function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, scale: number, what: string): void {
  expect(actual.length).withContext(what).toBe(expected.length);
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!) / (1 + Math.abs(expected[i]!) + scale);
    worst = Number.isNaN(difference) ? Infinity : Math.max(worst, difference);
  }
  expect(worst).withContext(what).toBeLessThanOrEqual(TOLERANCE);
}

const TOLERANCE = 1e-6;
