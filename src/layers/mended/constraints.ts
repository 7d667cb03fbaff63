/**
 * Constraints of weights, applied after each step of an optimizer, as Keras does; TensorFlow.js applies them where a weight is
 * written and in no step. Values that are written stay as they are.
 */
import * as tf from '@tensorflow/tfjs';
import { replace } from './call.js';

interface Constrained {
  constraint: { apply(x: tf.Tensor): tf.Tensor } | null;
  readonly val: tf.Variable;
}

/** Mends the weights of a layer that have a constraint. */
export function mendConstraints(layer: tf.layers.Layer): void {
  for (const weight of layer.weights) {
    const constrained = weight as unknown as Constrained;
    const { constraint, val } = constrained;
    if (constraint === null || constraint === undefined) continue;
    constrained.constraint = null;
    let isWritten = false;
    const assign = val.assign.bind(val);
    replace(val, 'assign', (value: tf.Tensor) => {
      if (isWritten) assign(value);
      else tf.tidy(() => assign(constraint.apply(value)));
    });
    const write = weight.write.bind(weight);
    // No function of this package to captured steps, which would apply the constraint twice: they run op by op.
    weight.write = (value: tf.Tensor): tf.LayerVariable => {
      isWritten = true;
      try {
        return write(value);
      } finally {
        isWritten = false;
      }
    };
  }
}
