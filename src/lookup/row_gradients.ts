/** The kernel `EmbeddingBagGrad`: the gradient of a table as the rows that a batch touches. */
import * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG_GRAD, PACKED_BAG } from '../backends/bag_tensors.js';
import { SINGLE_ROW } from '../backends/kernel_set.js';
import type { LookupGradient } from '../backends/lookup.js';
import { packedForm, type PackedForm } from '../backends/packed/packed_table.js';
import { backendPart } from '../backends/registry.js';
import { runKernel } from './run_kernel.js';
import { singleRows } from './single_rows.js';

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

/** The same where packed rows are limited to a norm: float32 rows of those that are touched stand for them. */
function ofPackedRows(
  { gradient, bags, options }: LookupGradient,
  rows: number,
  table: tf.Tensor2D,
  form: PackedForm,
): RowGradientTensors {
  return tf.tidy(() => {
    const { uniqueIds, rowGradients: sums } = rowGradients(
      { gradient, bags, options: { ...options, maxNorm: 0 } },
      rows,
      null,
    );
    const { maxNorm } = options;
    const touched = runKernel<tf.Tensor2D>(PACKED_BAG, { table, ...singleRows(uniqueIds) }, { ...SINGLE_ROW, ...form });
    return { uniqueIds, rowGradients: throughNorm(touched, sums, maxNorm) };
  });
}

/** The gradient of rows by that of the same rows scaled down to a norm. */
function throughNorm(rows: tf.Tensor2D, gradient: tf.Tensor2D, maxNorm: number): tf.Tensor2D {
  const { stepOps } = backendPart();
  if (stepOps !== undefined) return stepOps.normGradient(rows, gradient, maxNorm);
  const [count] = rows.shape;
  const bags = singleRows(tf.range(0, count, 1, 'int32'));
  return rowGradients({ gradient, bags, options: { ...SINGLE_ROW, maxNorm } }, count, rows).rowGradients;
}
