/** Kernels that tfjs looks at one by one. */
import * as tf from '@tensorflow/tfjs';

/** Whether tfjs is asked to look at each kernel: `tf.profile`, or its debug mode. */
export function areKernelsWatched(): boolean {
  const { state } = tf.engine() as unknown as { state: { profiling: boolean } };
  return state.profiling || tf.env().getBool('DEBUG');
}
