/**
 * Dropout by somebody else: tfjs draws its masks in JavaScript, number by number, which costs as much as a small layer
 * and cannot be repeated by an op. Only unseeded layers ask: a seed promises the masks of tfjs.
 */
import * as tf from '@tensorflow/tfjs';
import { Substitute } from '../../tfjs/training/substitute.js';

/** The fields of the layer. */
export interface DropoutLayer extends tf.layers.Layer {
  readonly rate: number;
  readonly seed?: number | null;
  getNoiseShape(input: tf.Tensor): number[] | null | undefined;
}

/** What a training call of such a layer gives; null: what tfjs gives. */
export type DropoutBy = (layer: DropoutLayer, input: tf.Tensor) => tf.Tensor | null;

type Call = (this: DropoutLayer, inputs: tf.Tensor | tf.Tensor[], kwargs?: Record<string, unknown> | null) => unknown;

const dropout = new Substitute<DropoutBy>('dropout');

/** Runs `f` while unseeded dropout layers are run by `by`. */
export function withDropout<T>(by: DropoutBy, f: () => T): T {
  return dropout.during(by, f);
}

/** Lets `withDropout` have an effect. */
export function openDropout(): void {
  dropout.open<Call>(tf.layers.dropout({ rate: 0.5, name: 'stock' }), 'call', (stock, byNow) => {
    return function (this: DropoutLayer, inputs, kwargs): unknown {
      const by = byNow();
      const input = Array.isArray(inputs) && inputs.length === 1 ? inputs[0] : inputs;
      const isAsked = kwargs?.['training'] === true && (this.seed ?? null) === null && this.rate > 0 && this.rate < 1;
      const result = by !== null && isAsked && input instanceof tf.Tensor ? by(this, input) : null;
      return result ?? stock.call(this, inputs, kwargs);
    };
  });
}
