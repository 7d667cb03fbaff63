/**
 * The channel between lookups and a row-sparse optimizer, open during `computeGradients`.
 *
 * tfjs knows only dense gradients. Inside a scope a lookup of a managed table is therefore differentiated with respect
 * to the anchor of the pass; its backward pass queues (ids, pooled gradient) instead of building a gradient of
 * the table's shape.
 */
import type * as tf from '@tensorflow/tfjs';
import type { LookupGradient } from '../../backends/contract.js';
import { perProcess } from '../../base/per_process.js';

/** One backward pass through one lookup: what an update kernel needs. All tensors are kept and owned by the queue. */
export interface QueuedGradient extends LookupGradient {
  readonly table: tf.Variable;
}

export interface LookupScope {
  /** Scalar variable that stands for all managed tables on the tape. */
  readonly anchor: tf.Variable;
  /** Whether the optimizer that opened the scope will step this table by rows. */
  manages(table: tf.Variable): boolean;
  /** Called in the forward pass with the ids that a lookup of a regularized table touches, once per lookup. */
  touch(table: tf.Variable, values: tf.Tensor1D): void;
  /**
   * The ids of the lookups so far in this pass, which stay the scope's; null when they were asked for before. A penalty
   * on touched rows is counted once per step, however many layers use the table.
   */
  takeTouched(table: tf.Variable): readonly tf.Tensor1D[] | null;
  /** Whether gradients are taken for the optimizer itself now, and not for somebody else within its pass. */
  readonly isDifferentiating: boolean;
  /** Called in the backward pass. */
  push(entry: QueuedGradient): void;
}

const open = (): { scope: LookupScope | null } => perProcess('lookup scope', () => ({ scope: null }));

/** The scope of the optimizer that is computing gradients; null while none is. */
export function lookupScope(): LookupScope | null {
  return open().scope;
}

/** Runs `f` within a scope, which ends with it. */
export function withLookupScope<T>(scope: LookupScope, f: () => T): T {
  const shared = open();
  const outer = shared.scope;
  shared.scope = scope;
  try {
    return f();
  } finally {
    shared.scope = outer;
  }
}
