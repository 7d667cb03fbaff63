/** One update of one table from everything that the batch said about it. */
import * as tf from '@tensorflow/tfjs';
import { packHyper, type Hyper } from '../backends/hyper.js';
import type { BagTensors } from '../backends/bag_tensors.js';
import type { TableUpdate } from '../backends/device_part.js';
import { SINGLE_ROW, type BagOptions } from '../backends/kernel_set.js';
import { backendPart } from '../backends/registry.js';
import { runGrad } from '../ops/embedding_bag.js';
import { withPublicErrors } from '../ops/kernel_errors.js';
import { singleRows } from '../ops/single_rows.js';
import type { OptimizerName } from '../types.js';
import type { QueuedGradient } from './lookup_scope.js';

interface Update {
  readonly gradient: tf.Tensor2D;
  readonly bags: BagTensors;
  readonly options: BagOptions;
}

/** Rows and their summed gradients as bags of one id each. */
function ofRows(ids: tf.Tensor1D, gradient: tf.Tensor2D): Update {
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
  return ids.length === 1 ? ofRows(ids[0]!, gradients[0]!) : ofRows(tf.concat1d(ids), tf.concat2d(gradients, 0));
}

/** The step of one table. */
export interface TableStep {
  readonly name: OptimizerName;
  readonly table: tf.Variable;
  readonly slots: readonly tf.Variable[];
  readonly entries: readonly QueuedGradient[];
  /** The part of the gradient that came through the tape. */
  readonly dense: tf.Tensor2D | null;
  readonly hyper: Hyper;
}

/** Steps tables and their slots in place. */
export function stepTables(steps: readonly TableStep[]): void {
  const { devices } = backendPart();
  if (devices === undefined) for (const step of steps) stepHere(step);
  else withPublicErrors(() => devices.update(steps.map(asUpdate)));
}

function stepHere({ name, table, slots, entries, dense, hyper }: TableStep): void {
  tf.tidy(() => {
    const { gradient, bags, options } = unite(table as unknown as tf.Tensor2D, entries, dense);
    withPublicErrors(() => backendPart().sparseApply(name, table, slots, gradient, bags, options, packHyper(hyper)));
  });
}

/** Devices unite the entries of a table themselves, in the same way. */
function asUpdate({ name, table, slots, entries, dense, hyper }: TableStep): TableUpdate {
  return {
    optimizer: name,
    table,
    slots,
    entries: entries.map(({ gradient, values, rowSplits, weights, options }) => {
      return { gradient, bags: { values, rowSplits, weights }, options };
    }),
    dense,
    hyper: packHyper(hyper),
  };
}
