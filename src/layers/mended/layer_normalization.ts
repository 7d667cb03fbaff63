/** Layer normalization of any rank, without scale or offset too, with which that of TensorFlow.js fails in `fit`. */
import * as tf from '@tensorflow/tfjs';
import { mendCall } from './call.js';

interface StockLayer extends tf.layers.Layer {
  readonly axis: number[];
  readonly epsilon: number;
  readonly gamma?: tf.LayerVariable | null;
  readonly beta?: tf.LayerVariable | null;
}

/** Mends one layer. */
export function mendLayerNormalization(layer: tf.layers.Layer): void {
  const own = layer as StockLayer;
  mendCall(layer, (stock) => (inputs, kwargs) => {
    const [x] = [inputs].flat() as [tf.Tensor];
    const { axis, epsilon, gamma, beta } = own;
    if (gamma && beta && x.rank <= 4) return stock(inputs, kwargs);
    return tf.tidy(() => {
      const shape = x.shape.map((size, i) => (axis.includes(i) ? size : 1));
      const { mean, variance } = tf.moments(x, axis, true);
      let result = x.sub(mean).mul(tf.rsqrt(variance.add(epsilon)));
      if (gamma) result = result.mul(gamma.read().reshape(shape));
      return beta ? result.add(beta.read().reshape(shape)) : result;
    });
  });
}
