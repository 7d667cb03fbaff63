/** The products of all pairs of features as one op, and the gradients of all features as one. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, type OpAttribute } from '../../backends/tensorflow/node_backend.js';
import { stepOps } from '../../backends/registry.js';
import { pairDots } from '../../layers/feature_interaction/pair_dots.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';
import { isExact } from '../fewer_ops/exact.js';

/** The products of features of one shape, each at least one number wide; null where the backend has no such op. */
export function nativePairDots(features: readonly tf.Tensor2D[], withSelf: boolean): tf.Tensor2D | null {
  const ops = stepOps();
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

/** Multiplications that a comparison with TensorFlow may take. */
const MOST_COMPARED = 2 ** 28;

/** Whether they have the bits that products of stacked features have. */
function areExact(features: readonly tf.Tensor2D[]): boolean {
  const { binding } = asNodeBackend(tf.backend());
  const [{ shape }, n] = [features[0]!, features.length];
  const [rows, dim] = shape;
  if (rows * n * n * dim > MOST_COMPARED) return false;
  const attribute = (name: string, type: number, value: number | boolean): OpAttribute => ({ name, type, value });
  const count = attribute('N', binding.TF_ATTR_INT, n);
  // As the stock kernel of products has them.
  const attributes = [
    attribute('T', binding.TF_ATTR_TYPE, binding.TF_FLOAT),
    attribute('adj_x', binding.TF_ATTR_BOOL, false),
    attribute('adj_y', binding.TF_ATTR_BOOL, true),
  ];
  const stacked = [rows, n, dim];
  return isExact({
    key: JSON.stringify(['pairs', n, shape]),
    shapes: [stacked],
    size: (rows * n * (n + 1)) / 2,
    terms: dim,
    stock(run, [all]) {
      const products = run({ name: 'BatchMatMulV2', attributes }, [all!, all!]);
      return products.filter((_, i) => i % n <= Math.floor(i / n) % n);
    },
    own(run, [all]) {
      const each = features.map((_, k) => {
        const values = new Float32Array(rows * dim);
        for (let row = 0; row < rows; row++) {
          const from = (row * n + k) * dim;
          values.set((all!.values as Float32Array).subarray(from, from + dim), row * dim);
        }
        return { shape, values };
      });
      const withSelf = { shape: [], values: Int32Array.of(1) };
      return run({ name: 'EmbeddingPairDots', attributes: [count] }, [withSelf, ...each]);
    },
  });
}

export const PAIR_DOTS = pairDots.as(nativePairDots);

/** Only where they have the bits that stock ops give. */
export const EXACT_PAIR_DOTS = pairDots.as((features, withSelf) => {
  const ops = stepOps();
  return ops !== null && areExact(features) ? nativePairDots(features, withSelf) : null;
});
