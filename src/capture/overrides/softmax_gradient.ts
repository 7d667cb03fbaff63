/** Override of the gradient of softmax: tfjs takes five passes over matrices as wide as the classes for it. */
import * as tf from '@tensorflow/tfjs';
import { replaceStockGradient } from '../../tfjs/engine/stock_gradient.js';
import { Substitute } from '../../tfjs/training/substitute.js';
import { stepOps } from '../../backends/registry.js';

/** The gradient of a softmax over the last axis, which gave `y`; null: that of tfjs. */
export type SoftmaxGradientBy = (dy: tf.Tensor, y: tf.Tensor) => tf.Tensor | null;

const softmaxGradient = new Substitute<SoftmaxGradientBy>('softmax gradient');

/** Installs the hook into tfjs. */
function installSoftmaxGradient(): void {
  replaceStockGradient('Softmax', 'softmax gradient', (stock) => (dy, saved, attributes) => {
    const [[y], { dim }] = [saved, attributes as unknown as { dim: number }];
    const by = softmaxGradient.now;
    if (by === null || y === undefined || dim !== y.rank - 1 || !(dy instanceof tf.Tensor)) {
      return stock(dy, saved, attributes);
    }
    return { logits: () => by(dy, y) ?? stock(dy, saved, attributes)['logits']!() };
  });
}

/** The gradient of softmax over the last axis; null where the backend has no such op. */
export function nativeSoftmaxGradient(dy: tf.Tensor, y: tf.Tensor): tf.Tensor | null {
  const ops = stepOps();
  const isFloat = dy.dtype === 'float32' && y.dtype === 'float32';
  if (ops === null || !isFloat || y.rank < 1 || y.size === 0) return null;
  const classes = y.shape.at(-1)!;
  const [upstream, rows] = [dy, y].map((each) => each.reshape([y.size / classes, classes]) as tf.Tensor2D);
  return ops.softmaxGradient(upstream!, rows!).reshape(y.shape);
}

/** The gradient of softmax is one op. */
export const SOFTMAX_GRADIENT = softmaxGradient.as(nativeSoftmaxGradient, installSoftmaxGradient);
