/** The kernel `EmbeddingBagGrad`: the gradient of a table as the rows that a batch touches. */
import * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG_GRAD } from '../backends/bag_tensors.js';
import type { LookupGradient } from '../backends/lookup.js';
import { packedForm, type PackedForm } from '../backends/packed/packed_table.js';
import { unpackRows } from '../backends/packed/rows.js';
import { runKernel } from './run_kernel.js';

/** One entry per touched row, ids ascending. */
export type RowGradientTensors = { uniqueIds: tf.Tensor1D; rowGradients: tf.Tensor2D };

/** What one lookup adds to the gradient of a table with so many rows; `table` is read where `maxNorm` is set. */
export function rowGradients(
  { gradient, bags, options }: LookupGradient,
  rows: number,
  table: tf.Tensor2D | null,
): RowGradientTensors {
  const form = options.maxNorm > 0 && table !== null ? packedForm(table) : undefined;
  if (form !== undefined) return ofPackedRows({ gradient, bags, options }, rows, table!, form);
  const inputs = { gradient, ...bags, table: options.maxNorm > 0 ? table : null };
  const [ids, gradients] = runKernel<[tf.Tensor1D, tf.Tensor2D]>(EMBEDDING_BAG_GRAD, inputs, { ...options, rows });
  return { uniqueIds: ids, rowGradients: gradients };
}

/** The same where packed rows are limited to a norm: a float32 table of the touched rows stands for them. */
function ofPackedRows(
  { gradient, bags, options }: LookupGradient,
  rows: number,
  table: tf.Tensor2D,
  { storage, dim }: PackedForm,
): RowGradientTensors {
  return tf.tidy(() => {
    const { uniqueIds } = rowGradients({ gradient, bags, options: { ...options, maxNorm: 0 } }, rows, null);
    const ids = uniqueIds.dataSync<'int32'>();
    if (ids.length === 0) return { uniqueIds, rowGradients: tf.zeros([0, dim]) };
    const words = tf.gather(table, uniqueIds).dataSync<'int32'>();
    const plain = tf.tensor2d(unpackRows(words, storage, dim), [ids.length, dim], 'float32');
    const places = new Map(Array.from(ids, (id, place) => [id, place]));
    const values = tf.tensor1d(
      bags.values.dataSync<'int32'>().map((id) => places.get(id) ?? -1),
      'int32',
    );
    // Ids outside the table were refused above, or count as zeros.
    const ofPlaces = { gradient, bags: { ...bags, values }, options: { ...options, outOfRange: 'zero' as const } };
    return { uniqueIds, rowGradients: rowGradients(ofPlaces, ids.length, plain).rowGradients };
  });
}
