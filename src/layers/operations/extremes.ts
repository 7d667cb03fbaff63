/** Largest, smallest and absolute numbers with the gradients of TensorFlow: equal ones share it, in tfjs each gets all. */
import * as tf from '@tensorflow/tfjs';
import { isTapeOn, withLazyGradient, withoutTape } from '../../tfjs/lazy_gradient.js';

type Reduce = (x: tf.Tensor, axes: number[], keepDims: boolean) => tf.Tensor;

function shared(reduce: Reduce): Reduce {
  return (x, axes, keepDims) => {
    if (x.dtype !== 'float32' || !isTapeOn()) return reduce(x, axes, keepDims);
    const shape = x.shape.map((size, i) => (axes.includes(i) ? 1 : size));
    return withLazyGradient(
      { x },
      (save) => {
        const result = reduce(x, axes, keepDims);
        save([x, result]);
        return result;
      },
      (dy, saved) => ({
        x: () => {
          const [given, result] = saved as [tf.Tensor, tf.Tensor];
          const equal = tf.equal(given, result.reshape(shape)).toFloat();
          return equal.mul(dy.reshape(shape).div(equal.sum(axes, true)));
        },
      }),
    );
  };
}

/** The largest numbers along axes of float32 or int32 numbers. */
export const largest: Reduce = shared((x, axes, keepDims) => x.max(axes, keepDims));

/** The smallest ones. */
export const smallest: Reduce = shared((x, axes, keepDims) => x.min(axes, keepDims));

/** Absolute values, with the gradient 0 at 0; in tfjs it is -1 there. */
export function absolute(x: tf.Tensor): tf.Tensor {
  return isTapeOn() ? x.mul(withoutTape(() => tf.sign(x.toFloat()).cast(x.dtype))) : tf.abs(x);
}
