/**
 * Dropout by somebody else: tfjs draws its masks in JavaScript, number by number, which costs as much as a small layer
 * and cannot be repeated by an op. Only unseeded layers ask: a seed promises the masks of tfjs.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../per_process.js';

/** The fields of the layer. */
export interface DropoutLayer extends tf.layers.Layer {
  readonly rate: number;
  readonly seed?: number | null;
  getNoiseShape(input: tf.Tensor): number[] | null | undefined;
}

/** What a training call of such a layer gives; null: what tfjs gives. */
export type DropoutBy = (layer: DropoutLayer, input: tf.Tensor) => tf.Tensor | null;

type Call = (this: DropoutLayer, inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>) => unknown;

const MARK = Symbol.for('tfjs-embeddings.dropout');
const active = (): { by: DropoutBy | null } => perProcess('dropout', () => ({ by: null }));

/** Runs `f` while unseeded dropout layers are run by `by`. */
export function withDropout<T>(by: DropoutBy, f: () => T): T {
  const shared = active();
  const outer = shared.by;
  shared.by = by;
  try {
    return f();
  } finally {
    shared.by = outer;
  }
}

/** Lets `withDropout` have an effect. Once per copy of tfjs: later calls do nothing. */
export function openDropout(): void {
  const { prototype } = tf.layers.dropout({ rate: 0.5 }).constructor as { prototype: { call: Call } };
  if (Object.hasOwn(prototype, MARK)) return;
  Object.defineProperty(prototype, MARK, { value: true });
  const { call } = prototype;
  prototype.call = function (this: DropoutLayer, inputs, kwargs): unknown {
    const { by } = active();
    const input = Array.isArray(inputs) && inputs.length === 1 ? inputs[0] : inputs;
    const isAsked = kwargs['training'] === true && (this.seed ?? null) === null && this.rate > 0 && this.rate < 1;
    const result = by !== null && isAsked && input instanceof tf.Tensor ? by(this, input) : null;
    return result ?? call.call(this, inputs, kwargs);
  };
}
