/** Pooled lookups with their gradients: every lookup of this package goes through here, many tables in one call. */
import * as tf from '@tensorflow/tfjs';
import type { LookedUp, Lookup } from '../backends/contract.js';
import { RuntimeError, described } from '../base/errors.js';
import { withDenseGradient } from './dense_gradient.js';
import { isTapeOn, withLazyGradient } from '../tfjs/lazy_gradient.js';
import { lookupScope, type LookupScope } from './training/lookup_scope.js';
import { asBags, present, runLookups, weightsGradient } from './kernel_calls.js';
import { checkRowConstraint, tableSettings } from './training/table_settings.js';
import { variableText } from './training/variable_names.js';

/** Returns the pooled rows [batch, dim] of each lookup; arguments were checked. Call inside a tidy. */
export function lookUp(lookups: readonly Lookup[]): tf.Tensor2D[] {
  const managed = lookups.filter(({ table }) => scopeOf(table) !== null);
  for (const { table } of managed) checkRowConstraint(tableSettings(table as tf.Variable));
  const found = lookUpUnrecorded(lookups);
  // Noted when nothing is wrong with the ids: whoever asked may ask again, without some of them.
  for (const { table, bags } of managed) {
    if (tableSettings(table as tf.Variable)?.regularized !== true) continue;
    scopeOf(table)!.touch(table as tf.Variable, bags.values);
  }
  return found;
}

/** The same lookups, never recorded for a penalty: penalties themselves look rows up. */
export function lookUpUnrecorded(lookups: readonly Lookup[]): tf.Tensor2D[] {
  if (lookups.length === 0) return [];
  const found = runLookups(lookups);
  // Nobody will ask for a gradient.
  if (!isTapeOn()) return found.map(({ pooled }) => pooled);
  return lookups.map((lookup, i) => {
    const scope = scopeOf(lookup.table);
    return scope === null ? withDenseGradient(lookup, found[i]!) : withRowGradient(scope, lookup, found[i]!);
  });
}

/** The scope of the optimizer that steps this table by rows; null where there is none. */
function scopeOf(table: tf.Tensor2D | tf.Variable): LookupScope | null {
  const scope = lookupScope();
  return scope !== null && table instanceof tf.Variable && scope.manages(table) ? scope : null;
}

/**
 * Puts a lookup of a managed table on the tape: there it depends on the anchor of the pass (and on the weights), and its
 * backward pass queues what an update kernel needs instead of a gradient as large as the table.
 */
function withRowGradient(
  scope: LookupScope,
  { table, bags, options }: Lookup,
  { pooled, handle }: LookedUp,
): tf.Tensor2D {
  const inputs = bags.weights === null ? { anchor: scope.anchor } : { anchor: scope.anchor, weights: bags.weights };
  return withLazyGradient(
    inputs,
    (save) => {
      save(present(bags));
      return pooled;
    },
    // What the backward pass needs comes through `saved`: tensors local to a layer's call are disposed by then.
    (dy, saved) => ({
      anchor: () => {
        const receiver = receivingScope(table as tf.Variable);
        const [gradient, ...kept] = [dy, ...saved].map((tensor) => tf.keep(tensor.clone()));
        const ofLookup = { gradient: gradient as tf.Tensor2D, bags: asBags(kept), options, handle };
        receiver.push({ table: table as tf.Variable, ...ofLookup });
        return tf.scalar(0);
      },
      weights: () => {
        const ofLookup = { gradient: dy as tf.Tensor2D, bags: asBags(saved), options };
        return weightsGradient(table as tf.Tensor2D, ofLookup);
      },
    }),
  ) as tf.Tensor2D;
}

/** Whoever takes gradients now: not the optimizer of the lookup where one pass runs within another. */
export function receivingScope(table: tf.Variable): LookupScope {
  const scope = lookupScope();
  if (scope?.isDifferentiating === true) return scope;
  throw new RuntimeError(
    'gradient',
    `computeGradients of an emb.train optimizer within the step that looks up the table ${variableText(table)}`,
    described('tf.variableGrads or a stock optimizer'),
  );
}
