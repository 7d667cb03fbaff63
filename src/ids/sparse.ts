/** Functions on sparse tensors: the namespace `sparse`. */
import { comparePlaces, readSparse, type SparseInput, type SparseValues } from './sparse_values.js';
import { readFlat } from './values.js';

/**
 * Returns the same entries in row-major order, as {indices: Int32Array [nnz * rank], values, denseShape}.
 * Entries of one place keep their order (the sort is stable) and all stay. `values` become int32 where all are whole,
 * else float32. Throws as a lookup would for indices outside denseShape.
 * Source: tf.sparse.reorder (TensorFlow 2.21).
 *
 * @param sparse - Indices, values and the dense shape.
 * @returns The entries in their new order.
 *
 * @example
 * emb.sparse.reorder({indices: [[1, 0], [0, 1]], values: [5, 7], denseShape: [2, 2]}).values; // Int32Array [7, 5]
 */
export function reorder(sparse: SparseInput): SparseValues {
  const { indices, denseShape, count } = readSparse(sparse, 'sparse', false);
  const { values } = readFlat(sparse.values, 'sparse.values', {});
  const rank = denseShape.length;
  const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => comparePlaces(indices, rank, a, b));
  const sorted = new Int32Array(indices.length);
  order.forEach((from, to) => sorted.set(indices.subarray(from * rank, (from + 1) * rank), to * rank));
  const moved = values.slice();
  order.forEach((from, to) => (moved[to] = values[from]!));
  return { indices: sorted, values: moved, denseShape: [...denseShape] };
}
