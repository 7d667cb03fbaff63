/** The kernel `EmbeddingBagGrad`: the gradient of a table as the rows that a batch touches. */
import type * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG_GRAD } from '../backends/bag_tensors.js';
import type { LookupGradient } from '../backends/lookup.js';
import { runKernel } from './run_kernel.js';

/** One entry per touched row, ids ascending. */
export type RowGradientTensors = { uniqueIds: tf.Tensor1D; rowGradients: tf.Tensor2D };

/** What one lookup adds to the gradient of a table with so many rows; `table` is read where `maxNorm` is set. */
export function rowGradients(
  { gradient, bags, options }: LookupGradient,
  rows: number,
  table: tf.Tensor2D | null,
): RowGradientTensors {
  const inputs = { gradient, ...bags, table: options.maxNorm > 0 ? table : null };
  const [ids, gradients] = runKernel<[tf.Tensor1D, tf.Tensor2D]>(EMBEDDING_BAG_GRAD, inputs, { ...options, rows });
  return { uniqueIds: ids, rowGradients: gradients };
}
