/**
 * Convolutions and largest numbers of windows on `wasm`, and a few layers on every backend: tfjs has no gradients of
 * these, or wrong ones. They are computed as layers of ours of the same name are.
 */
import * as tf from '@tensorflow/tfjs';
import { isTapeOn } from '../../tfjs/lazy_gradient.js';
import { padded, partsOf, windowOf, withChannelsLast } from '../keras/convolutions.js';
import { KERAS_KINDS } from '../keras/keras_layers.js';
import { mendCall } from './call.js';

/** Weights of tfjs by the names that ours have. */
const WEIGHTS: Readonly<Record<string, string>> = { depthwise: 'depthwiseKernel', pointwise: 'pointwiseKernel' };

/** Those of which other backends have no gradients (tfjs 4.22), or `cpu` others than it should. */
const WITHOUT_GRADIENTS: readonly string[] = ['Conv3DTranspose', 'UpSampling2D'];

interface StockLayer extends tf.layers.Layer {
  readonly activation?: { apply(x: tf.Tensor): tf.Tensor } | null;
}

/** Mends one layer. */
export function mendConvolution(layer: tf.layers.Layer): void {
  const kind = KERAS_KINDS.get(layer.getClassName())!;
  const { activation } = layer as StockLayer;
  const lacksGradients = WITHOUT_GRADIENTS.includes(layer.getClassName());
  const held = layer as unknown as Readonly<Record<string, tf.LayerVariable | null | undefined>>;
  mendCall(layer, (stock) => (inputs, kwargs) => {
    const isDepthwise = layer.getClassName() !== 'Conv2DTranspose' && held['depthwiseKernel'] !== undefined;
    const isWasm = tf.getBackend() === 'wasm';
    // Of channels by themselves, and of volumes that grow, `wasm` also computes other numbers.
    if (!(isTapeOn() ? isWasm || lacksGradients : isWasm && (isDepthwise || lacksGradients)))
      return stock(inputs, kwargs);
    const [x] = [inputs].flat() as [tf.Tensor];
    return tf.tidy(() =>
      kind.compute(x, {
        isTraining: false,
        fields: { groups: 1, ...held },
        weight: (name) => (held[WEIGHTS[name] ?? name]?.read() as tf.Tensor | undefined) ?? null,
        activate: (value) => activation?.apply(value) ?? value,
      }),
    );
  });
}

/** Mends one layer. */
export function mendMaxPooling(layer: tf.layers.Layer): void {
  const fields = layer as unknown as Readonly<Record<string, unknown>>;
  mendCall(layer, (stock) => (inputs, kwargs) => {
    const [x] = [inputs].flat() as [tf.Tensor];
    // Of volumes it takes other numbers where windows overlap (tfjs 4.22).
    if (tf.getBackend() !== 'wasm' || (!isTapeOn() && x.rank < 5)) return stock(inputs, kwargs);
    return tf.tidy(() =>
      withChannelsLast(x, fields, (given) => {
        const window = windowOf({ ...fields, kernelSize: fields['poolSize'], dilationRate: 1 }, given.rank - 2);
        return partsOf(padded(given, window, -3e38), window).reduce((a, b) => tf.maximum(a, b));
      }),
    );
  });
}
