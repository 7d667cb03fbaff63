/** The gradient of softmax by somebody else: tfjs takes five passes over matrices as wide as the classes for it. */
import * as tf from '@tensorflow/tfjs';
import { Substitute } from './substitute.js';

/** The gradient of a softmax over the last axis, which gave `y`; null: that of tfjs. */
export type SoftmaxGradientBy = (dy: tf.Tensor, y: tf.Tensor) => tf.Tensor | null;

const MARK = Symbol.for('tfjs-embeddings.softmaxGradient');
const softmaxGradient = new Substitute<SoftmaxGradientBy>('softmax gradient');

/** Runs `f` while `by` computes gradients of softmax. */
export function withSoftmaxGradient<T>(by: SoftmaxGradientBy, f: () => T): T {
  return softmaxGradient.during(by, f);
}

/** Lets `withSoftmaxGradient` have an effect. Once per copy of tfjs: later calls do nothing. */
export function openSoftmaxGradient(): void {
  const stock = tf.getGradient('Softmax') as tf.GradConfig & Record<symbol, unknown>;
  if (stock === undefined || stock[MARK] === true) return;
  const gradFunc: tf.GradFunc = (dy, saved, attributes) => {
    const [[y], { dim }] = [saved, attributes as unknown as { dim: number }];
    const by = softmaxGradient.now;
    if (by === null || y === undefined || dim !== y.rank - 1 || !(dy instanceof tf.Tensor)) {
      return stock.gradFunc(dy, saved, attributes);
    }
    return { logits: () => by(dy, y) ?? stock.gradFunc(dy, saved, attributes)['logits']!() };
  };
  tf.unregisterGradient('Softmax');
  tf.registerGradient({ ...stock, gradFunc, [MARK]: true } as tf.GradConfig);
}
