/** What is no number stays none: kernels of tfjs, those of `wasm` above all, make others of it. */
import * as tf from '@tensorflow/tfjs';
import { broadcast } from './moves.js';

type Run = (...given: [tf.Tensor, ...tf.Tensor[]]) => tf.Tensor;

/** The same function, on these backends with NaN wherever a tensor that it is given has NaN. */
export const keepingNaN =
  (run: (...given: never[]) => tf.Tensor, backends: readonly string[]) =>
  (given: readonly tf.Tensor[]): tf.Tensor =>
    tf.tidy(() => {
      const result = (run as Run)(...(given as [tf.Tensor, ...tf.Tensor[]]));
      if (result.dtype !== 'float32' || result.size === 0 || !backends.includes(tf.getBackend())) return result;
      return given.reduce((rest, each) => {
        const isNone = broadcast(tf.isNaN(each), result.shape);
        return tf.where(isNone, tf.fill(result.shape, NaN), rest);
      }, result);
    });
