/**
 * Pooling with the gradients of Keras. TensorFlow.js divides the gradient of an average at the rim of padded windows by the
 * whole window, where fewer numbers are in it, and gives each of several largest numbers the whole gradient.
 */
import * as tf from '@tensorflow/tfjs';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import { largest } from '../operations/extremes.js';
import { mendCall } from './call.js';

interface StockLayer extends tf.layers.Layer {
  readonly poolSize: number | readonly number[];
  readonly strides: number | readonly number[];
  padding: string;
  readonly dataFormat?: string;
}

/** The axes of steps, rows and columns. */
function spatialAxes({ dataFormat }: StockLayer, rank: number): number[] {
  const first = dataFormat === 'channelsFirst' ? 2 : 1;
  return Array.from({ length: rank - 2 }, (_, i) => first + i);
}

/** Mends one layer of averages. */
export function mendAveragePooling(layer: tf.layers.Layer): void {
  const own = layer as StockLayer;
  mendCall(layer, (stock) => (inputs, kwargs) => {
    if (own.padding !== 'same') return stock(inputs, kwargs);
    const [x] = [inputs].flat() as [tf.Tensor];
    const axes = spatialAxes(own, x.rank);
    const pads = x.shape.map((size, axis): [number, number] => {
      const place = axes.indexOf(axis);
      if (place < 0) return [0, 0];
      const [window, stride] = [own.poolSize, own.strides].map((each) => [each].flat()[place] ?? 1) as [number, number];
      const missing = Math.max(0, (Math.ceil(size / stride) - 1) * stride + window - size);
      return [missing >> 1, missing - (missing >> 1)];
    });
    if (pads.every(([before, after]) => before + after === 0)) return stock(inputs, kwargs);
    return tf.tidy(() => {
      own.padding = 'valid';
      try {
        const averages = stock(tf.pad(x, pads), kwargs) as tf.Tensor;
        const shares = withoutTape(() => stock(tf.pad(tf.onesLike(x), pads), kwargs) as tf.Tensor);
        return averages.div(shares);
      } finally {
        own.padding = 'same';
      }
    });
  });
}

/** Mends one layer of the largest numbers of a whole input. */
export function mendGlobalMaxPooling(layer: tf.layers.Layer): void {
  mendCall(layer, () => (inputs) => {
    const [x] = [inputs].flat() as [tf.Tensor];
    return tf.tidy(() => largest(x, spatialAxes(layer as StockLayer, x.rank), false));
  });
}
