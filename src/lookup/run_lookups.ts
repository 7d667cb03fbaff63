/** Lookups as the backend runs them, outside the tape. */
import type * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG, PACKED_BAG, type BagTensors } from '../backends/bag_tensors.js';
import type { LookedUp, Lookup } from '../backends/lookup.js';
import { IdOutOfRange } from '../backends/kernel_set.js';
import { packedForm } from '../backends/packed/packed_table.js';
import { backendPart } from '../backends/registry.js';
import { withPublicErrors } from './kernel_errors.js';
import { withoutTape } from '../tfjs/lazy_gradient.js';
import { runKernel } from './run_kernel.js';

function runOne(lookup: Lookup): LookedUp {
  const { table, bags, options } = lookup;
  const form = packedForm(table);
  const { lookUpOne } = backendPart();
  if (form === undefined && lookUpOne !== undefined) return withPublicErrors(() => lookUpOne(lookup), table);
  const [kernel, attrs] = form === undefined ? [EMBEDDING_BAG, options] : [PACKED_BAG, { ...options, ...form }];
  return { pooled: runKernel<tf.Tensor2D>(kernel, { table: table as tf.Tensor2D, ...bags }, attrs), handle: null };
}

function runTogether(lookups: readonly Lookup[]): LookedUp[] {
  const part = backendPart();
  const together = part.lookUp;
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
}

/** Runs lookups of all tables in one call, where the backend can: devices then work at the same time. */
export function runLookups(lookups: readonly Lookup[]): LookedUp[] {
  return withoutTape(() => {
    const plain = lookups.filter(({ table }) => packedForm(table) === undefined);
    if (plain.length === lookups.length) return runTogether(lookups);
    // Packed rows lie in the memory of the host.
    const found = plain.length === 0 ? [] : runTogether(plain);
    return lookups.map((lookup) => (packedForm(lookup.table) === undefined ? found.shift()! : runOne(lookup)));
  });
}

/** The tensors of a batch, for the tape to save, in the order in which `asBags` reads them. */
export function present({ values, rowSplits, weights }: BagTensors): tf.Tensor[] {
  return weights === null ? [values, rowSplits] : [values, rowSplits, weights];
}

export function asBags([values, rowSplits, weights]: tf.Tensor[]): BagTensors {
  return { values, rowSplits, weights: weights ?? null } as BagTensors;
}
