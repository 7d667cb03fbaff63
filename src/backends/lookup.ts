/** What goes to a backend and comes back in a step: lookups, and what they add to the gradients of tables. */
import type * as tf from '@tensorflow/tfjs';
import type { OptimizerName } from '../rules/rules.js';
import type { BagTensors } from './bag_tensors.js';
import type { BagOptions } from './kernel_set.js';

/** Whom a lookup serves, so that reports tell layers and their inputs apart. */
export interface LookupInput {
  /** Who told the plan: the first argument of `followPlan`. */
  readonly owner: object;
  readonly input: number;
  /** Samples of the call; there are more bags than samples where ids are looked up one by one. */
  readonly samples: number;
}

/** One pooled lookup. */
export interface Lookup {
  readonly table: tf.Tensor2D | tf.Variable;
  readonly bags: BagTensors;
  readonly options: BagOptions;
  /** Ids came to the devices with the input, so that they are not sent: `dpInput: false`. */
  readonly idsArePlaced?: boolean;
  readonly servedInput?: LookupInput;
}

/** What a backend keeps of a lookup that it ran, for the step that follows. Nobody else looks into it. */
export type LookupHandle = object;

/** What a lookup gave. */
export interface LookedUp {
  readonly pooled: tf.Tensor2D; // [batch, dim]
  readonly handle: LookupHandle | null;
}

/** What one lookup adds to the gradient of its table. */
export interface LookupGradient {
  readonly gradient: tf.Tensor2D; // [batch, dim]
  readonly bags: BagTensors;
  readonly options: BagOptions;
  /** That of the lookup; null where there is none, or it is of no use any more: everything is then read again. */
  readonly handle?: LookupHandle | null;
}

/** One exact step of one table. */
export interface TableUpdate {
  readonly optimizer: OptimizerName;
  readonly table: tf.Variable;
  readonly slots: readonly tf.Variable[];
  readonly entries: readonly LookupGradient[];
  /** The part of the gradient that came through the tape, [rows, dim]. */
  readonly dense: tf.Tensor2D | null;
  readonly hyper: Float32Array;
}
