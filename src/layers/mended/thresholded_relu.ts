/** The gradient of numbers above a threshold, which tfjs asks the comparison for. */
import * as tf from '@tensorflow/tfjs';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import { mendCall } from './call.js';

/** Mends one layer. */
export function mendThresholdedReLU(layer: tf.layers.Layer): void {
  const { theta } = layer as unknown as { readonly theta: number };
  mendCall(
    layer,
    () => (inputs) =>
      tf.tidy(() => {
        const [x] = [inputs].flat() as [tf.Tensor];
        return x.mul(withoutTape(() => tf.greater(x, theta).toFloat()));
      }),
  );
}
