/** What the tables of the model have in common, whichever API holds them. */
import * as tf from '@tensorflow/tfjs';

/** Name of the layer that holds all tables. */
export const TABLES = 'tables';
/** Numbers in a vector of the deep part. */
export const DIM = 8;

/** By input: vectors [batch, ids, DIM], or pooled ones [batch, DIM] for bags; and summed numbers [batch, 1]. */
export interface LookedUp {
  readonly deep: readonly tf.SymbolicTensor[];
  readonly wide: readonly tf.SymbolicTensor[];
}

export function startingVectors(seed: number): ReturnType<typeof tf.initializers.randomUniform> {
  return tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed });
}
