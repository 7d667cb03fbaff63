/** Flatten of any rank, and of steps of any number, both of which TensorFlow.js refuses. */
import type * as tf from '@tensorflow/tfjs';
import { replace } from './call.js';

/** Mends one layer; must be done before it is applied. */
export function mendFlatten(layer: tf.layers.Layer): void {
  layer.inputSpec = [];
  replace(layer, 'computeOutputShape', (shape: tf.Shape): tf.Shape => {
    const sizes = shape.slice(1);
    return [
      shape[0]!,
      sizes.reduce<number | null>((all, size) => (all === null || size === null ? null : all * size), 1),
    ];
  });
}
