/** A regularizer on the rows that a step touches. */
import * as tf from '@tensorflow/tfjs';
import type { Lookup } from '../backends/lookup.js';
import { lookUpUnrecorded } from '../ops/lookup.js';
import { SINGLE_ROW } from '../backends/kernel_set.js';
import { singleRows } from '../ops/single_rows.js';
import { lookupScope } from '../ops/training/lookup_scope.js';

/** Anything with the `apply` of tf.regularizers. */
export interface Regularizer {
  apply(x: tf.Tensor): tf.Scalar;
}

/** A table and what is applied to its rows. */
export interface Penalized {
  readonly table: tf.Variable;
  readonly regularizer: Regularizer;
}

/**
 * Returns the penalty of each table for the loss of the step in progress, as scalars.
 *
 * Under an `emb.train` optimizer: over the rows that this step's lookups touched, each counted once, however often it
 * was looked up and however many layers share the table; its gradient goes the way of the lookups. Elsewhere: over the
 * whole table, as stock layers do. Zero when nothing was touched, and when the penalty of this step was taken already.
 */
export function touchedRowsPenalties(tables: readonly Penalized[]): tf.Scalar[] {
  return tf.tidy(() => {
    const penalties = new Map<Penalized, tf.Scalar>();
    const lookups: Lookup[] = [];
    const lookedUp: Penalized[] = [];
    for (const each of tables) {
      const { table, regularizer } = each;
      const scope = lookupScope();
      if (scope === null || !scope.manages(table)) {
        penalties.set(each, regularizer.apply(table));
        continue;
      }
      const ids = scope.takeTouched(table);
      if (ids === null || ids.length === 0) {
        penalties.set(each, tf.scalar(0));
        continue;
      }
      lookups.push({ table, bags: singleRows(tf.tensor1d(ids, 'int32')), options: SINGLE_ROW });
      lookedUp.push(each);
    }
    lookUpUnrecorded(lookups).forEach((rows, i) => {
      penalties.set(lookedUp[i]!, lookedUp[i]!.regularizer.apply(rows));
    });
    return tables.map((each) => penalties.get(each)!);
  });
}

/** The penalty of one table. */
export function touchedRowsPenalty(table: tf.Variable, regularizer: Regularizer): tf.Scalar {
  return touchedRowsPenalties([{ table, regularizer }])[0]!;
}
