/** Whether tensors of the backend in use are read by waiting for them: nothing is read at once where that can be helped. */
import * as tf from '@tensorflow/tfjs';

export function readsWait(): boolean {
  return tf.getBackend() === 'webgpu';
}
