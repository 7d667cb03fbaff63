/** A regularizer on the rows that a step touches. */
import * as tf from '@tensorflow/tfjs';
import { lookUpUnrecorded } from '../ops/embedding_bag.js';
import { SINGLE_ROW, singleRows } from '../ops/single_rows.js';
import { state } from '../state.js';

/** Anything with the `apply` of tf.regularizers. */
export interface Regularizer {
  apply(x: tf.Tensor): tf.Scalar;
}

/**
 * Returns the penalty of a table for the loss of the step in progress, as a scalar.
 *
 * Under an `emb.train` optimizer: over the rows that this step's lookups touched, each counted once, however often it
 * was looked up and however many layers share the table; its gradient goes the way of the lookups. Elsewhere: over the
 * whole table, as stock layers do. Zero when nothing was touched, and when the penalty of this step was taken already.
 */
export function touchedRowsPenalty(table: tf.Variable, regularizer: Regularizer): tf.Scalar {
  const { scope } = state();
  if (scope === null || !scope.manages(table)) return tf.tidy(() => regularizer.apply(table));
  return tf.tidy(() => {
    const ids = scope.takeTouched(table);
    if (ids === null || ids.length === 0) return tf.scalar(0);
    const bags = singleRows(tf.tensor1d(ids, 'int32'));
    const rows = lookUpUnrecorded(table as unknown as tf.Tensor2D, bags, SINGLE_ROW);
    return regularizer.apply(rows);
  });
}
