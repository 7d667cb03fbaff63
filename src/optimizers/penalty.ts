/** A regularizer on the rows that a step touches. */
import * as tf from '@tensorflow/tfjs';
import { live } from '../backends/recordings.js';
import { SINGLE_ROW } from '../backends/kernel_set.js';
import type { Table } from '../backends/table.js';
import type { Lookup } from '../backends/contract.js';
import { stepOps } from '../backends/registry.js';
import type { StepOps } from '../backends/step_ops.js';
import { lookUpUnrecorded, receivingScope, lookupScope, type LookupScope } from '../lookup/lookup.js';
import { singleRows } from '../backends/kernel_calls.js';
import { withLazyGradient } from '../tfjs/lazy_gradient.js';

/** Anything with the `apply` of tf.regularizers. */
export interface Regularizer {
  apply(x: tf.Tensor): tf.Scalar;
}

/** A table and what is applied to its rows. */
export interface Penalized {
  readonly table: Table;
  readonly regularizer: Regularizer;
}

/** The fields of tfjs's one class of regularizers. */
interface L1L2 extends Regularizer {
  readonly l1: number;
  readonly l2: number;
  readonly hasL1: boolean;
  readonly hasL2: boolean;
}

let stockClass: unknown = null;

/** The regularizer as exactly that class, whose penalty is known without asking it; else null. */
function asL1L2(regularizer: Regularizer): L1L2 | null {
  stockClass ??= tf.regularizers.l2().constructor;
  const isStock = regularizer.constructor === stockClass && !Object.hasOwn(regularizer, 'apply');
  return isStock ? (regularizer as L1L2) : null;
}

/** The factors in force now. */
function factorsOf({ l1, l2, hasL1, hasL2 }: L1L2): Float32Array {
  return Float32Array.of(hasL1 ? l1 : 0, hasL2 ? l2 : 0);
}

/** Distinct ids of lookups that name rows, ascending. */
function distinctRows(lists: readonly tf.Tensor1D[], rows: number): Int32Array {
  const ids = new Set<number>();
  for (const values of lists) {
    for (const id of values.dataSync()) if (id >= 0 && id < rows) ids.add(id);
  }
  return Int32Array.from(ids).sort();
}

/** All numbers of a table; those of packed rows as a tensor of their own. */
function numbersOf({ codec, dim, shape, tensor }: Table): tf.Tensor {
  return codec.isPlain ? tensor : tf.tensor2d(codec.unpack(tensor.dataSync<'int32'>(), dim), shape, 'float32');
}

/** The penalty by ops that do not show the ids to JavaScript. */
function penaltyByOps(
  ops: StepOps,
  scope: LookupScope,
  table: Table,
  regularizer: L1L2,
  lists: readonly tf.Tensor1D[],
): tf.Scalar {
  const ids = ops.touchedRows(lists, table.rows);
  const factors = live(() => factorsOf(regularizer));
  return withLazyGradient(
    { anchor: scope.anchor },
    (save) => {
      save([ids]);
      return ops.rowPenalty(table, ids, factors);
    },
    (dy, saved) => ({
      anchor: () => {
        const rows = singleRows(saved[0] as tf.Tensor1D);
        const bags = { ...rows, values: rows.values.clone() as tf.Tensor1D };
        const gradient = ops.rowPenaltyGradient(table, bags.values, factors, dy);
        for (const kept of [gradient, bags.values, bags.rowSplits]) tf.keep(kept);
        receivingScope(table).push({ table, gradient, bags, options: SINGLE_ROW, handle: null });
        return tf.scalar(0);
      },
    }),
  ) as tf.Scalar;
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
        penalties.set(each, regularizer.apply(numbersOf(table)));
        continue;
      }
      const lists = scope.takeTouched(table);
      if (lists === null || lists.length === 0) {
        penalties.set(each, tf.scalar(0));
        continue;
      }
      const stock = asL1L2(regularizer);
      const ops = stepOps();
      if (stock !== null && ops !== null && table.codec.training !== null) {
        penalties.set(each, penaltyByOps(ops, scope, table, stock, lists));
        continue;
      }
      const ids = distinctRows(lists, table.rows);
      if (ids.length === 0) {
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
export function touchedRowsPenalty(table: Table, regularizer: Regularizer): tf.Scalar {
  return touchedRowsPenalties([{ table, regularizer }])[0]!;
}
