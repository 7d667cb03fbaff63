/** Steps without gradient accumulation: every occurrence of an id is a step of its own. */
import type { Combiner } from '../../base/types.js';
import { bagDivisor } from '../../ids/bag_divisor.js';
import { occurrenceRounds } from '../../ids/occurrence_rounds.js';

/** A batch's gradients, one for each occurrence of an id. */
export interface Occurrences {
  /** The row of each occurrence. */
  readonly ids: Int32Array;
  /** The gradient of each occurrence, [occurrences, dim]. */
  readonly gradients: Float32Array;
  readonly dim: number;
}

/** The ids of bags, and the gradients of what they were pooled to. */
export interface PooledGradient {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  readonly weights: Float32Array | null;
  readonly gradient: Float32Array; // [bags, dim]
}

/** The gradients of all occurrences, in the order of the batch. */
export function occurrencesOf(pooled: readonly PooledGradient[], combiner: Combiner, dim: number): Occurrences {
  const count = pooled.reduce((sum, { values }) => sum + values.length, 0);
  const ids = new Int32Array(count);
  const gradients = new Float32Array(count * dim);
  let at = 0;
  for (const part of pooled) {
    const { values, rowSplits, weights, gradient } = part;
    for (let bag = 0; bag + 1 < rowSplits.length; bag++) {
      const [first, end] = [rowSplits[bag]!, rowSplits[bag + 1]!];
      const divideBy = bagDivisor(weights, first, end, combiner);
      for (let i = first; i < end; i++, at++) {
        const factor = divideBy === 0 ? 0 : (weights?.[i] ?? 1) / divideBy;
        ids[at] = values[i]!;
        for (let c = 0; c < dim; c++) gradients[at * dim + c] = factor * gradient[bag * dim + c]!;
      }
    }
  }
  return { ids, gradients, dim };
}

/**
 * The same in rounds without repeated ids: round r holds the r-th occurrence of each id. Stepping round after round steps
 * each occurrence by itself, in the order of the batch.
 */
export function rounds({ ids, gradients, dim }: Occurrences): Occurrences[] {
  return occurrenceRounds(ids, ids.keys()).map((positions) => {
    const part = new Float32Array(positions.length * dim);
    positions.forEach((from, to) => part.set(gradients.subarray(from * dim, (from + 1) * dim), to * dim));
    return { ids: Int32Array.from(positions, (position) => ids[position]!), gradients: part, dim };
  });
}
