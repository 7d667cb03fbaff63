/** The products of all pairs of features as one op, and the gradients of all features as one. */
import type * as tf from '@tensorflow/tfjs';
import { currentBackend } from '../../backends/registry.js';
import { pairDots } from '../../layers/feature_interaction/pair_dots.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

/** The products of features of one shape, each at least one number wide; null where the backend has no such op. */
export function nativePairDots(features: readonly tf.Tensor2D[], withSelf: boolean): tf.Tensor2D | null {
  const { ops } = currentBackend();
  if (ops === null || features.some(({ dtype }) => dtype !== 'float32')) return null;
  return withLazyGradient(
    Object.fromEntries(features.map((feature, i) => [`${i}`, feature])),
    (save) => {
      save([...features]);
      return ops.pairDots(features, withSelf);
    },
    (dy, saved) => {
      const gradients = ops.pairDotsGradient(saved as tf.Tensor2D[], withSelf, dy as tf.Tensor2D);
      return Object.fromEntries(gradients.map((gradient, i) => [`${i}`, () => gradient]));
    },
  ) as tf.Tensor2D;
}

export const PAIR_DOTS = pairDots.as(nativePairDots);
