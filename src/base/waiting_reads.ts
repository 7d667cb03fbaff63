/** Whether values of tensors can only be read asynchronously without stalling the backend in use. */
import * as tf from '@tensorflow/tfjs';

export function isReadAsync(): boolean {
  return tf.getBackend() === 'webgpu';
}
