/** Lookups as the backend runs them, outside the tape. */
import type * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG, type BagTensors } from '../backends/bag_tensors.js';
import type { LookedUp, Lookup } from '../backends/lookup.js';
import { IdOutOfRange } from '../backends/kernel_set.js';
import { backendPart } from '../backends/registry.js';
import { withPublicErrors } from './kernel_errors.js';
import { withoutTape } from '../tfjs_patches/lazy_gradient.js';
import { runKernel } from './run_kernel.js';

function runOne({ table, bags, options }: Lookup): LookedUp {
  return {
    pooled: runKernel<tf.Tensor2D>(EMBEDDING_BAG, { table: table as tf.Tensor2D, ...bags }, options),
    handle: null,
  };
}

/** Runs lookups of all tables in one call, where the backend can: devices then work at the same time. */
export function runLookups(lookups: readonly Lookup[]): LookedUp[] {
  const part = backendPart();
  const together = part.lookUp;
  return withoutTape(() => {
    if (part.devices !== undefined) {
      const only = lookups.length === 1 ? lookups[0]!.table : null;
      return withPublicErrors(() => part.lookUp!(lookups), only);
    }
    if (together === undefined || lookups.length < 2) return lookups.map(runOne);
    try {
      return together(lookups);
    } catch (error) {
      // One by one it is said which table the id is not in.
      if (error instanceof IdOutOfRange) lookups.forEach(runOne);
      throw error;
    }
  });
}

/** The tensors of a batch, for the tape to save, in the order in which `asBags` reads them. */
export function present({ values, rowSplits, weights }: BagTensors): tf.Tensor[] {
  return weights === null ? [values, rowSplits] : [values, rowSplits, weights];
}

export function asBags([values, rowSplits, weights]: tf.Tensor[]): BagTensors {
  return { values, rowSplits, weights: weights ?? null } as BagTensors;
}
