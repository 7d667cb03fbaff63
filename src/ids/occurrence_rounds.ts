/** Steps in which every occurrence of an id is a step of its own, in rounds that repeat no id. */
import type { Combiner } from '../base/types.js';
import { bagDivisor } from './bag_divisor.js';

/** The ids of bags, and the gradients of what they were pooled to. */
export interface PooledGradient {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  readonly weights: Float32Array | null;
  readonly gradient: Float32Array; // [bags, dim]
  /** The numbers of the bags in the order of their steps; absent: as they come. */
  readonly order?: Iterable<number>;
}

/** Occurrences of different ids. */
export interface Round {
  readonly ids: Int32Array;
  /** The share of each in the gradient of its bag. */
  readonly factors: Float64Array;
  /** The gradients of their bags, [ids, dim]. */
  readonly gradients: Float32Array;
}

/**
 * Round r holds the r-th occurrence of each id. Stepping round after round steps each occurrence by itself, in the order
 * of the batch.
 */
export function occurrenceRounds(pooled: readonly PooledGradient[], combiner: Combiner, dim: number): Round[] {
  const seen = new Map<number, number>();
  const rounds: { ids: number[]; factors: number[]; gradients: Float32Array[] }[] = [];
  for (const { values, rowSplits, weights, gradient, order = rowSplits.subarray(1).keys() } of pooled) {
    for (const bag of order) {
      const [first, end] = [rowSplits[bag]!, rowSplits[bag + 1]!];
      const divideBy = bagDivisor(weights, first, end, combiner);
      const ofBag = gradient.subarray(bag * dim, (bag + 1) * dim);
      for (let i = first; i < end; i++) {
        const id = values[i]!;
        const round = seen.get(id) ?? 0;
        seen.set(id, round + 1);
        const found = (rounds[round] ??= { ids: [], factors: [], gradients: [] });
        found.ids.push(id);
        found.factors.push(divideBy === 0 ? 0 : (weights?.[i] ?? 1) / divideBy);
        found.gradients.push(ofBag);
      }
    }
  }
  return rounds.map(({ ids, factors, gradients: ofBags }) => {
    const gradients = new Float32Array(ids.length * dim);
    ofBags.forEach((gradient, i) => gradients.set(gradient, i * dim));
    return { ids: Int32Array.from(ids), factors: Float64Array.from(factors), gradients };
  });
}
