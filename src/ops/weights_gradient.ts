/** The kernel `EmbeddingBagWeightsGrad`, which has no gradient of its own. */
import type * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG_WEIGHTS_GRAD } from '../backends/bag_tensors.js';
import type { LookupGradient } from '../backends/lookup.js';
import { refuseSecond, withLazyGradient } from '../tfjs_patches/lazy_gradient.js';
import { runKernel } from './run_kernel.js';

/** The gradient of a lookup with respect to its weights, [nnz]. */
export function weightsGradient(table: tf.Tensor2D, { gradient, bags, options }: LookupGradient): tf.Tensor1D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with respect to its weights');
  return withLazyGradient(
    { table, gradient, weights: bags.weights! },
    () => runKernel(EMBEDDING_BAG_WEIGHTS_GRAD, { table, gradient, ...bags }, options),
    () => ({ table: refuse, gradient: refuse, weights: refuse }),
  ) as tf.Tensor1D;
}
