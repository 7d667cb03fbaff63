/** The gradient of softmax by somebody else: tfjs takes five passes over matrices as wide as the classes for it. */
import * as tf from '@tensorflow/tfjs';
import { replaceStockGradient } from '../../tfjs/engine/stock_gradient.js';
import { Substitute } from '../../tfjs/training/substitute.js';

/** The gradient of a softmax over the last axis, which gave `y`; null: that of tfjs. */
export type SoftmaxGradientBy = (dy: tf.Tensor, y: tf.Tensor) => tf.Tensor | null;

const softmaxGradient = new Substitute<SoftmaxGradientBy>('softmax gradient');

/** Runs `f` while `by` computes gradients of softmax. */
export function withSoftmaxGradient<T>(by: SoftmaxGradientBy, f: () => T): T {
  return softmaxGradient.during(by, f);
}

/** Lets `withSoftmaxGradient` have an effect. Once per copy of tfjs: later calls do nothing. */
export function openSoftmaxGradient(): void {
  replaceStockGradient('Softmax', 'softmax gradient', (stock) => (dy, saved, attributes) => {
    const [[y], { dim }] = [saved, attributes as unknown as { dim: number }];
    const by = softmaxGradient.now;
    if (by === null || y === undefined || dim !== y.rank - 1 || !(dy instanceof tf.Tensor)) {
      return stock(dy, saved, attributes);
    }
    return { logits: () => by(dy, y) ?? stock(dy, saved, attributes)['logits']!() };
  });
}
