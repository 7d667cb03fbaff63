/** Binary cross-entropy as one op, and its gradient as one. */
import * as tf from '@tensorflow/tfjs';
import { backendPart } from '../../backends/registry.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

const NONE = new Float32Array(0);

/**
 * The losses of labels and predictions of one shape, element by element; null where the backend has no such op, or they
 * are not of floats. Labels have no gradient.
 */
export function nativeCrossEntropy(labels: tf.Tensor, predictions: tf.Tensor, areLogits: boolean): tf.Tensor | null {
  const { stepOps } = backendPart();
  const areFloats = labels.dtype === 'float32' && predictions.dtype === 'float32';
  const isPlain = predictions.rank > 0 && tf.util.arraysEqual(labels.shape, predictions.shape);
  if (stepOps === undefined || !areFloats || !isPlain) return null;
  const epsilon = tf.backend().epsilon();
  const limits = areLogits ? NONE : Float32Array.of(epsilon, 1 - epsilon);
  return withLazyGradient(
    { predictions },
    (save) => {
      save([labels, predictions]);
      return stepOps.crossEntropy(labels, predictions, limits);
    },
    (dy, saved) => {
      const [of, given] = saved as [tf.Tensor, tf.Tensor];
      return { predictions: () => stepOps.crossEntropyGradient(of, given, limits, dy) };
    },
  );
}
