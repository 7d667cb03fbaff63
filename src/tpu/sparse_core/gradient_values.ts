/** Gradients of activations on the host. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, describe, described } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { warnOnce } from '../../base/warn_once.js';

/** The values of a gradient of this shape; null, with a warning, for none. */
export function gradientValues(gradient: unknown, shape: readonly number[], path: string): Float32Array | null {
  if (gradient === null || gradient === undefined) {
    warnOnce(`${path} has no gradient: zeros are applied, which optimizers with momentum notice.`);
    return null;
  }
  if (!(gradient instanceof tf.Tensor)) {
    throw new ValueError(path, 'a tensor or null', described(`non-tensor type: ${describe(gradient)}`));
  }
  return floatValues(gradient, shape, path, `a float32 tensor of shape [${shape.join(', ')}], or null`);
}

function floatValues(tensor: unknown, shape: readonly number[], argument: string, expected: string): Float32Array {
  if (!(tensor instanceof tf.Tensor) || tensor.dtype !== 'float32') {
    throw new ArgumentTypeError(argument, expected, tensor);
  }
  checkLive(tensor as tf.Tensor, argument, expected);
  if (!tf.util.arraysEqual(tensor.shape, shape as number[])) throw new ValueError(argument, expected, tensor);
  return tensor.dataSync<'float32'>();
}
