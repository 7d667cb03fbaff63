/** The kernel `EmbeddingBagWeightsGrad`, which has no gradient of its own. */
import type * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG_WEIGHTS_GRAD, PACKED_BAG_WEIGHTS_GRAD } from '../backends/bag_tensors.js';
import type { LookupGradient } from '../backends/lookup.js';
import { packedForm } from '../backends/packed/packed_table.js';
import { refuseSecond, withLazyGradient } from '../tfjs/lazy_gradient.js';
import { runKernel } from './run_kernel.js';

/** The gradient of a lookup with respect to its weights, [nnz]. */
export function weightsGradient(table: tf.Tensor2D, { gradient, bags, options }: LookupGradient): tf.Tensor1D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with respect to its weights');
  const form = packedForm(table);
  const kernel = form === undefined ? EMBEDDING_BAG_WEIGHTS_GRAD : PACKED_BAG_WEIGHTS_GRAD;
  return withLazyGradient(
    { table, gradient, weights: bags.weights! },
    () => runKernel(kernel, { table, gradient, ...bags }, { ...options, ...form }),
    () => ({ table: refuse, gradient: refuse, weights: refuse }),
  ) as tf.Tensor1D;
}
