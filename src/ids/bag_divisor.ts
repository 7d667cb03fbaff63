/** What the weighted sum of a bag is divided by. */
import type { Combiner } from '../base/types.js';

/**
 * 1 for `sum`, the sum of the weights for `mean`, the root of the sum of their squares for `sqrtn`; added up in double. 0
 * for a bag that holds nothing that counts. weights: null is 1 for each; the bag holds those at [first, end).
 */
export function bagDivisor(weights: Float32Array | null, first: number, end: number, combiner: Combiner): number {
  if (combiner === 'sum') return 1;
  let sum = 0;
  for (let i = first; i < end; i++) {
    const weight = weights === null ? 1 : weights[i]!;
    sum += combiner === 'mean' ? weight : weight * weight;
  }
  return combiner === 'mean' ? sum : Math.sqrt(sum);
}
