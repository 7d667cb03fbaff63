/** The kernel `EmbeddingBagGrad` as a function. */
import * as tf from '@tensorflow/tfjs';
import { tableOf } from '../backends/table.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { INT32_MAX } from '../base/types.js';
import { checkBagOptions, checkMatrix, checkTable } from './arguments.js';
import { BAG_FIELDS, readBagTensors, type EmbeddingBagOptions, type VectorInput } from './bag_arguments.js';
import type { RowGradientTensors } from '../backends/contract.js';
import { rowGradients } from './lookup.js';

export interface EmbeddingBagGradOptions extends EmbeddingBagOptions {
  /** Number of rows of the table; not needed when `table` is given. */
  rows?: number | undefined;
  /** Needed with `maxNorm`, whose scaling is differentiated through. */
  table?: tf.Tensor2D | tf.Variable | undefined;
}

/**
 * Returns the gradient of `embeddingBag` with respect to its table, as the rows that it touches.
 *
 * Shapes: gradient [batch, dim] float32 (of the pooled rows); values, rowSplits, weights as in `embeddingBag`;
 * uniqueIds [u] int32, ascending; rowGradients [u, dim] float32. Rows outside the table under `outOfRange: 'zero'`
 * have no gradient.
 * Source: tf.IndexedSlices of tf.nn.embedding_lookup_sparse (TensorFlow 2.21), ids made unique.
 *
 * @param gradient - [batch, dim] float32: that of the combined rows.
 * @param values - The ids of all bags, one after the other.
 * @param rowSplits - Where each bag begins, and where the last one ends.
 * @param options - The combiner, how ids are weighted and checked, and the size of the table.
 * @returns The touched rows and their gradients.
 * @throws As `embeddingBag`; TypeError where `maxNorm` is set without a table.
 *
 * @example
 * const {uniqueIds, rowGradients} =
 *     emb.ops.embeddingBagGrad(tf.ones([2, 2]), [0, 2, 0], [0, 2, 3], {combiner: 'sum', rows: 3});
 * uniqueIds.print(); // [0, 2]
 * rowGradients.print(); // [[2, 2], [1, 1]]
 */
export function embeddingBagGrad(
  gradient: tf.Tensor2D,
  values: VectorInput,
  rowSplits: VectorInput,
  options: EmbeddingBagGradOptions,
): RowGradientTensors {
  const given = readOptions<EmbeddingBagGradOptions>(options, [...BAG_FIELDS, 'rows', 'table']);
  const checked = checkBagOptions(given);
  const table = given.table === undefined || given.table === null ? null : checkTable(given.table);
  const rows = checkRows(given.rows, table);
  if (table === null && checked.maxNorm > 0) {
    throw new ArgumentTypeError('table', 'the table, because maxNorm is set', undefined);
  }
  return tf.tidy(() => {
    const bags = readBagTensors(values, rowSplits, given.weights, checked.validate);
    const batch = bags.rowSplits.shape[0] - 1;
    const matrix = checkMatrix(gradient, batch, table?.shape[1] ?? null, 'gradient');
    return rowGradients({ gradient: matrix, bags, options: checked }, rows, table && tableOf(table));
  });
}

/** The number of rows: the table's own, or the one given. */
function checkRows(rows: unknown, table: tf.Tensor2D | null): number {
  const expected = table === null ? 'the number of rows of the table' : `${table.shape[0]}, as table has, or nothing`;
  if (rows === undefined || rows === null) {
    if (table !== null) return table.shape[0];
    throw new ArgumentTypeError('rows', expected, rows);
  }
  if (typeof rows !== 'number') throw new ArgumentTypeError('rows', expected, rows);
  const fits = table === null ? Number.isInteger(rows) && rows >= 0 && rows <= INT32_MAX : rows === table.shape[0];
  if (!fits) throw new ValueError('rows', expected, rows);
  return rows;
}
