/** One update of one table from everything that the batch said about it. */
import * as tf from '@tensorflow/tfjs';
import { packHyper, type Hyper } from '../backends/hyper.js';
import type { BagTensors } from '../backends/bag_tensors.js';
import type { BagOptions } from '../backends/kernel_set.js';
import { backendPart } from '../backends/registry.js';
import { runGrad } from '../ops/embedding_bag.js';
import { withPublicErrors } from '../ops/kernel_errors.js';
import { SINGLE_ROW, singleRows } from '../ops/single_rows.js';
import type { OptimizerName } from '../types.js';
import type { QueuedGradient } from './lookup_scope.js';

interface Update {
  readonly gradient: tf.Tensor2D;
  readonly bags: BagTensors;
  readonly options: BagOptions;
}

/** Rows and their summed gradients as bags of one id each. */
function asUpdate(ids: tf.Tensor1D, gradient: tf.Tensor2D): Update {
  return { gradient, bags: singleRows(ids), options: SINGLE_ROW };
}

/**
 * Makes one update of several: a table is stepped once, with the sum over all its uses, since stepping it per use
 * would not be the optimizer's step. A single lookup goes to the fused kernel as it is.
 */
function unite(table: tf.Tensor2D, entries: readonly QueuedGradient[], dense: tf.Tensor2D | null): Update {
  if (entries.length === 1 && dense === null) {
    const { gradient, values, rowSplits, weights, options } = entries[0]!;
    return { gradient, bags: { values, rowSplits, weights }, options };
  }
  const parts = entries.map(({ gradient, options, ...bags }) => runGrad(gradient, bags, options, table));
  const ids = parts.map((part) => part.uniqueIds);
  const gradients = parts.map((part) => part.rowGradients);
  if (dense !== null) {
    // Tied weights: the dense gradient joins as one that touches every row.
    ids.push(tf.range(0, table.shape[0], 1, 'int32'));
    gradients.push(dense);
  }
  return ids.length === 1 ? asUpdate(ids[0]!, gradients[0]!) : asUpdate(tf.concat1d(ids), tf.concat2d(gradients, 0));
}

/** Steps `table` and its slots in place. `dense`: the part of the gradient that came through the tape, or null. */
export function stepTable(
  name: OptimizerName,
  table: tf.Variable,
  slots: readonly tf.Variable[],
  entries: readonly QueuedGradient[],
  dense: tf.Tensor2D | null,
  hyper: Hyper,
): void {
  tf.tidy(() => {
    const update = unite(table as unknown as tf.Tensor2D, entries, dense);
    const { gradient, bags, options } = update;
    withPublicErrors(() => backendPart().sparseApply(name, table, slots, gradient, bags, options, packHyper(hyper)));
  });
}
