/** Layers for each step, as Keras 2 calls them: once for the steps of all rows, of which a batch normalization takes the moments. */
import * as tf from '@tensorflow/tfjs';
import { mendCall, type Call } from './call.js';

/** Mends one layer. */
export function mendTimeDistributed(layer: tf.layers.Layer): void {
  const inner = (layer as unknown as { readonly layer: tf.layers.Layer }).layer;
  if (inner.getClassName() !== 'BatchNormalization') return;
  mendCall(layer, () => (inputs, kwargs) => {
    const [x] = [inputs].flat() as [tf.Tensor];
    return tf.tidy(() => {
      const rows = x.reshape([-1, ...x.shape.slice(2)]);
      const { mask: _ofSteps, ...others } = kwargs;
      const [result] = [(inner.call as Call)(rows, others)].flat() as [tf.Tensor];
      return result.reshape([x.shape[0]!, x.shape[1]!, ...result.shape.slice(1)]);
    });
  });
}
