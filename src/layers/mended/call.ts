/** How single layers come to compute otherwise than their class: those of models that this package made, and no others. */
import type * as tf from '@tensorflow/tfjs';
import { asOwn } from '../../tfjs/engine/own_functions.js';

type Tensors = tf.Tensor | tf.Tensor[];

/** What a layer is called with, beside its inputs. */
export type CallArguments = Readonly<Record<string, unknown>>;

export type Call = (inputs: Tensors, kwargs: CallArguments) => Tensors;

/** Gives a layer another function in the place of one of its class. */
export function replace(layer: object, name: string, value: object): void {
  Object.defineProperty(layer, name, { configurable: true, writable: true, value: asOwn(value) });
}

/** Wraps what a layer computes; `stock` is what its class does. */
export function mendCall(layer: tf.layers.Layer, wrap: (stock: Call) => Call): void {
  replace(layer, 'call', wrap(layer.call.bind(layer) as Call));
}
