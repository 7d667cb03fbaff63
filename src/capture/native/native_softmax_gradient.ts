/** The gradient of softmax as one op. */
import type * as tf from '@tensorflow/tfjs';
import { backendPart } from '../../backends/registry.js';

/** The gradient of softmax over the last axis; null where the backend has no such op. */
export function nativeSoftmaxGradient(dy: tf.Tensor, y: tf.Tensor): tf.Tensor | null {
  const { stepOps } = backendPart();
  const isFloat = dy.dtype === 'float32' && y.dtype === 'float32';
  if (stepOps === undefined || !isFloat || y.rank < 1 || y.size === 0) return null;
  const classes = y.shape.at(-1)!;
  const [upstream, rows] = [dy, y].map((each) => each.reshape([y.size / classes, classes]) as tf.Tensor2D);
  return stepOps.softmaxGradient(upstream!, rows!).reshape(y.shape);
}
