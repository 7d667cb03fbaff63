/** How long the mask of a result lives. */
import type * as tf from '@tensorflow/tfjs';

/** Makes a mask that tfjs hangs on the result of a layer go with that result; nobody else would dispose it. */
export function disposeWithMask(output: tf.Tensor): tf.Tensor {
  const { kerasMask } = output as tf.Tensor & { kerasMask?: tf.Tensor | null };
  if (kerasMask === undefined || kerasMask === null) return output;
  const dispose = output.dispose.bind(output);
  output.dispose = () => {
    kerasMask.dispose();
    dispose();
  };
  return output;
}
