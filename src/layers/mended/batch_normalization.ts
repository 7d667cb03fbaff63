/**
 * Batch normalization as Keras trains it. That of TensorFlow.js takes the moments of the batch though it is frozen, fails in
 * `fit` without scale or offset and along other axes than the last, knows no more than four axes, and counts masked steps.
 */
import * as tf from '@tensorflow/tfjs';
import { isTapeOn, withoutTape } from '../../tfjs/lazy_gradient.js';
import { mendCall } from './call.js';

/** A layer of tfjs. */
interface StockLayer extends tf.layers.Layer {
  readonly axis: number;
  readonly momentum: number;
  readonly epsilon: number;
  readonly gamma?: tf.LayerVariable | null;
  readonly beta?: tf.LayerVariable | null;
  readonly movingMean: tf.LayerVariable;
  readonly movingVariance: tf.LayerVariable;
}

interface Moments {
  readonly mean: tf.Tensor;
  readonly variance: tf.Tensor;
}

/** What Keras 3 adds to the number of values that count, which may be none. */
const EPSILON = 1e-7;

/** Moments of the values that a mask counts, with all axes. */
function maskedMoments(x: tf.Tensor, mask: tf.Tensor, axes: number[], epsilon: number): Moments {
  const counts = tf.expandDims(mask.toFloat(), -1).mul(tf.onesLike(x));
  const size = counts.sum(axes, true).add(epsilon);
  const mean = x.mul(counts).sum(axes, true).div(size);
  return { mean, variance: x.sub(mean).square().mul(counts).sum(axes, true).div(size) };
}

function movedTo(variable: tf.LayerVariable, value: tf.Tensor, momentum: number): void {
  withoutTape(() =>
    tf.tidy(() => {
      const before = variable.read();
      variable.write(before.mul(momentum).add(value.reshape(before.shape).mul(1 - momentum)));
    }),
  );
}

/** The axis that is normalized, among those of an input. */
function axisOf({ axis }: StockLayer, rank: number): number {
  return axis < 0 ? axis + rank : axis;
}

/** x normalized; moments and weights have one value for each place of the axis. */
function normalized(layer: StockLayer, x: tf.Tensor, { mean, variance }: Moments): tf.Tensor {
  const axis = axisOf(layer, x.rank);
  const shape = x.shape.map((size, i) => (i === axis ? size : 1));
  const wide = (value: tf.Tensor): tf.Tensor => (x.rank === shape.length ? value.reshape(shape) : value);
  const { gamma, beta, epsilon } = layer;
  const factor = tf.rsqrt(wide(variance).add(epsilon));
  const scale = gamma ? factor.mul(wide(gamma.read())) : factor;
  const centered = x.sub(wide(mean)).mul(scale);
  return beta ? centered.add(wide(beta.read())) : centered;
}

/** Mends one layer; `version`: that of the Keras which it comes from. */
export function mendBatchNormalization(layer: tf.layers.Layer, version: 2 | 3): void {
  const own = layer as StockLayer;
  mendCall(layer, (stock) => (inputs, kwargs) => {
    const [x] = [inputs].flat() as [tf.Tensor];
    const isTraining = kwargs['training'] === true && layer.trainable;
    const isLast = axisOf(own, x.rank) === x.rank - 1;
    const mask = kwargs['mask'] instanceof tf.Tensor ? kwargs['mask'] : null;
    // The kernel of tfjs keeps a scale for its gradient that may not be there.
    const isStock = x.rank <= 4 && isLast && (own.gamma || !isTapeOn());
    if (isStock && !isTraining) return stock(inputs, { ...kwargs, training: false });
    // Keras 2 normalizes images and volumes by a kernel that takes no masks, and moves to the variance of a sample.
    const isVolume = x.rank === 5 && [1, 4].includes(axisOf(own, 5));
    const isFused = version === 2 && (x.rank === 4 || isVolume);
    const isWhole = mask === null || isFused;
    if (x.rank <= 4 && isLast && isWhole && !isFused && own.gamma && own.beta) return stock(inputs, kwargs);
    return tf.tidy(() => {
      if (!isTraining) {
        return normalized(own, x, { mean: own.movingMean.read(), variance: own.movingVariance.read() });
      }
      const axes = x.shape.map((_, i) => i).filter((i) => i !== axisOf(own, x.rank));
      const moments = isWhole ? tf.moments(x, axes, true) : maskedMoments(x, mask, axes, version === 3 ? EPSILON : 0);
      const count = x.size / x.shape[axisOf(own, x.rank)]!;
      const sample = isFused && count > 1 ? count / (count - 1) : 1;
      movedTo(own.movingMean, moments.mean, own.momentum);
      movedTo(own.movingVariance, sample === 1 ? moments.variance : moments.variance.mul(sample), own.momentum);
      return normalized(own, x, moments);
    });
  });
}
