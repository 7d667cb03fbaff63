/** The gradients of activations, one per feature. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { warnOnce } from '../../base/warn_once.js';

/**
 * A gradient of the shape of its activations as one of pooled rows [bags, dim]; null for one that is missing, which is
 * said once. Throws ValueError, with the path of the feature, for what is no tensor and for another shape.
 */
export function featureGradient(gradient: unknown, shape: readonly number[], path: string): tf.Tensor2D | null {
  if (gradient === null || gradient === undefined) {
    warnOnce(`no gradient came for ${path}: zeros are applied. A feature that never gets one need not be trained.`);
    return null;
  }
  const expected = `a float32 gradient of shape [${shape.join(', ')}]`;
  if (!(gradient instanceof tf.Tensor)) throw new ValueError(path, expected, gradient);
  checkLive(gradient as tf.Tensor, path, expected);
  const fits = gradient.dtype === 'float32' && tf.util.arraysEqual(gradient.shape, shape as number[]);
  if (!fits) throw new ValueError(path, expected, gradient);
  return tf.reshape(gradient as tf.Tensor, [-1, shape.at(-1)!]);
}
