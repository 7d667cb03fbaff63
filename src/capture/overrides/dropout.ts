/**
 * Override of dropout: tfjs draws its masks in JavaScript, number by number, which costs as much as a small layer
 * and cannot be repeated by an op. Only unseeded layers ask: a seed promises the masks of tfjs.
 */
import * as tf from '@tensorflow/tfjs';
import { drops } from '../../layers/dropped.js';
import { Substitute } from '../../tfjs/training/substitute.js';
import { droppedByOp, isDropping, tidied } from './random_numbers.js';

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

/** Installs the hook into tfjs. */
function installDropout(): void {
  dropout.open<Call>(tf.layers.dropout({ rate: 0.5, name: 'stock' }), 'call', (stock, byNow) => {
    return function (this: DropoutLayer, inputs, kwargs): unknown {
      const by = byNow();
      const input = Array.isArray(inputs) && inputs.length === 1 ? inputs[0] : inputs;
      const isAsked = kwargs?.['training'] === true && (this.seed ?? null) === null && isDropping(this.rate);
      const result = by !== null && isAsked && input instanceof tf.Tensor ? by(this, input) : null;
      return result ?? stock.call(this, inputs, kwargs);
    };
  });
}

/** What an unseeded layer gives in training; null where the backend has no such op, or the input is not of floats. */
export function nativeDropout(layer: DropoutLayer, input: tf.Tensor): tf.Tensor | null {
  if (input.dtype !== 'float32') return null;
  const rate = (): number => layer.rate;
  const noiseShape = layer.getNoiseShape(input);
  return tidied(() => {
    if (!noiseShape) return droppedByOp(input, rate);
    const mask = droppedByOp(tf.ones(noiseShape), rate);
    return mask === null ? null : input.mul(mask);
  });
}

/** Unseeded dropout is one op with a gradient of its own. */
export const DROPOUT = dropout.as(nativeDropout, installDropout);

/** So is that within layers of this package. */
export const DROPS = drops.as(droppedByOp);
