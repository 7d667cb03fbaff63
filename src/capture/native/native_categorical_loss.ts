/** Categorical cross-entropy of probabilities as one op, and its gradient as one. */
import * as tf from '@tensorflow/tfjs';
import { backendPart } from '../../backends/registry.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

/** Float32 counts no further without gaps. */
const MOST_CLASSES = 2 ** 24;

/** Probabilities as a matrix, and labels as it goes with them; null: tfjs has to say what it thinks of them. */
function asRows(labels: tf.Tensor, output: tf.Tensor, isSparse: boolean): [tf.Tensor, tf.Tensor2D] | null {
  const classes = output.shape.at(-1) ?? 0;
  if (output.rank < 2 || output.size === 0 || output.dtype !== 'float32' || labels.dtype === 'string') return null;
  const rows = output.size / classes;
  // tfjs refuses numbers of a single class.
  const fits = isSparse
    ? labels.size === rows && classes > 1 && classes <= MOST_CLASSES
    : tf.util.arraysEqual(labels.shape, output.shape);
  if (!fits) return null;
  return [labels.cast('float32').reshape(isSparse ? [rows] : [rows, classes]), output.reshape([rows, classes])];
}

/**
 * The loss of each row of probabilities; null where the backend has no such op, or they do not fit one another. Labels
 * have no gradient.
 */
export function nativeCategoricalLoss(labels: tf.Tensor, output: tf.Tensor, isSparse: boolean): tf.Tensor | null {
  const { stepOps } = backendPart();
  const rows = stepOps === undefined ? null : asRows(labels, output, isSparse);
  if (stepOps === undefined || rows === null) return null;
  const epsilon = tf.backend().epsilon();
  const limits = Float32Array.of(epsilon, 1 - epsilon);
  const losses = withLazyGradient(
    { probabilities: rows[1] },
    (save) => {
      save(rows);
      return stepOps.categoricalLoss(...rows, limits);
    },
    (dy, saved) => {
      const [of, probabilities] = saved as [tf.Tensor, tf.Tensor2D];
      return { probabilities: () => stepOps.categoricalLossGradient(of, probabilities, limits, dy as tf.Tensor1D) };
    },
  );
  return losses.reshape(output.shape.slice(0, -1));
}
