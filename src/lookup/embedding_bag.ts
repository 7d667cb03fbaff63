/** The kernel `EmbeddingBag` as a function. */
import * as tf from '@tensorflow/tfjs';
import { readOptions } from '../base/options.js';
import { checkBagOptions, checkLookupTable } from './arguments.js';
import { BAG_FIELDS, readBagTensors, type EmbeddingBagOptions, type VectorInput } from './bag_arguments.js';
import { lookUp } from './lookup.js';

/**
 * Returns one combined row per bag of ids.
 *
 * Shapes: table [rows, dim] float32; values [nnz] int32; rowSplits [batch + 1] int32, from 0 to nnz, never falling;
 * weights [nnz] float32; result [batch, dim] float32. Bag b holds values[rowSplits[b] .. rowSplits[b + 1]).
 * An empty bag gives zeros for every combiner. Repeated ids count each time. The weighted mean divides by the sum of
 * the weights, sqrtn by the root of the sum of their squares; a divisor of 0 gives zeros. With `maxNorm` every row is
 * scaled to at most that L2 norm before it is weighted. Differentiable with respect to table and weights.
 * Source: tf.nn.embedding_lookup_sparse (TensorFlow 2.21) over compressed rows.
 *
 * @param table - [rows, dim] float32.
 * @param values - The ids of all bags, one after the other.
 * @param rowSplits - Where each bag begins, and where the last one ends.
 * @param options - The combiner, and how ids are weighted and checked.
 * @returns The combined rows, [batch, dim] float32.
 * @throws TypeError for wrong types and dtypes; ValueError for wrong ranks, splits, an unknown combiner and, unless
 * `outOfRange: 'zero'`, for an id outside [0, rows).
 *
 * @example
 * const table = tf.tensor2d([[1, 2], [3, 4], [5, 6]]);
 * emb.ops.embeddingBag(table, [0, 2, 1], [0, 2, 3], {combiner: 'sum'}).print(); // [[6, 8], [3, 4]]
 */
export function embeddingBag(
  table: tf.Tensor2D | tf.Variable,
  values: VectorInput,
  rowSplits: VectorInput,
  options: EmbeddingBagOptions,
): tf.Tensor2D {
  const matrix = checkLookupTable(table);
  const given = readOptions<EmbeddingBagOptions>(options, BAG_FIELDS);
  const checked = checkBagOptions(given);
  return tf.tidy(() => {
    const bags = readBagTensors(values, rowSplits, given.weights, checked.validate);
    return lookUp([{ table: matrix, bags, options: checked }])[0]!;
  });
}
