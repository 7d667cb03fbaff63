/** Dot products of rows as one op, and their gradients as one each. */
import type * as tf from '@tensorflow/tfjs';
import { backendPart } from '../../backends/registry.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

/** The dots of the rows of two matrices; null where the backend has no such op, or they are not of floats. */
export function nativeDots(a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor1D | null {
  const { stepOps } = backendPart();
  if (stepOps === undefined || a.dtype !== 'float32' || b.dtype !== 'float32') return null;
  return withLazyGradient(
    { a, b },
    (save) => {
      save([a, b]);
      return stepOps.rowDots(a, b);
    },
    (dy, saved) => {
      const [left, right] = saved as [tf.Tensor2D, tf.Tensor2D];
      return {
        a: () => stepOps.scaledRows(dy as tf.Tensor1D, right),
        b: () => stepOps.scaledRows(dy as tf.Tensor1D, left),
      };
    },
  ) as tf.Tensor1D;
}
