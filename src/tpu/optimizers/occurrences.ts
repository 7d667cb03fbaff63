/** Steps without gradient accumulation: every occurrence of an id is a step of its own. */

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

/** What the sum of a bag is divided by; 0 where it holds nothing that counts. */
function divisor({ weights }: PooledGradient, combiner: string, first: number, end: number): number {
  if (combiner === 'sum') return 1;
  let sum = 0;
  for (let i = first; i < end; i++) {
    const weight = weights?.[i] ?? 1;
    sum += combiner === 'mean' ? weight : weight * weight;
  }
  return combiner === 'mean' ? sum : Math.sqrt(sum);
}

/** The gradients of all occurrences, in the order of the batch. */
export function occurrencesOf(pooled: readonly PooledGradient[], combiner: string, dim: number): Occurrences {
  const count = pooled.reduce((sum, { values }) => sum + values.length, 0);
  const ids = new Int32Array(count);
  const gradients = new Float32Array(count * dim);
  let at = 0;
  for (const part of pooled) {
    const { values, rowSplits, weights, gradient } = part;
    for (let bag = 0; bag + 1 < rowSplits.length; bag++) {
      const [first, end] = [rowSplits[bag]!, rowSplits[bag + 1]!];
      const divideBy = divisor(part, combiner, first, end);
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
  const seen = new Map<number, number>();
  const byRound: number[][] = [];
  ids.forEach((id, position) => {
    const round = seen.get(id) ?? 0;
    seen.set(id, round + 1);
    (byRound[round] ??= []).push(position);
  });
  return byRound.map((positions) => {
    const part = new Float32Array(positions.length * dim);
    positions.forEach((from, to) => part.set(gradients.subarray(from * dim, (from + 1) * dim), to * dim));
    return { ids: Int32Array.from(positions, (position) => ids[position]!), gradients: part, dim };
  });
}
