/** One update of one table from everything that the batch said about it. */
import * as tf from '@tensorflow/tfjs';
import type { RowGradientTensors, TableUpdate } from '../backends/contract.js';
import { united } from '../backends/joined_updates.js';
import { numbersShape } from '../backends/packed/packed_table.js';
import { currentBackend } from '../backends/registry.js';
import { ofRows } from '../backends/single_rows.js';
import { rowGradients, withPublicErrors } from '../lookup/kernel_calls.js';
import { IndexedSlices } from './indexed_slices.js';

/** All that a batch said about one table. */
export type TableGradient = Pick<TableUpdate, 'entries' | 'dense'>;

/** The sum over all uses of a table, by the rows that were touched. Call inside a tidy. */
export function rowsOf(table: tf.Variable, given: TableGradient): RowGradientTensors {
  const matrix = table as unknown as tf.Tensor2D;
  const one = united({ table, ...given }, currentBackend().gradient);
  return rowGradients(one, matrix.shape[0], matrix);
}

/** The same as people see it. Call inside a tidy. */
export function slicesOf(table: tf.Variable, given: TableGradient): IndexedSlices {
  const { uniqueIds, rowGradients: values } = rowsOf(table, given);
  return new IndexedSlices({ indices: uniqueIds, values, denseShape: numbersShape(table) as [number, number] });
}

/** The way back. Call inside a tidy. */
export function ofSlices({ indices, values }: IndexedSlices): TableGradient {
  return { entries: [ofRows(indices, values)], dense: null };
}

/** Steps tables and their slots in place. */
export function stepTables(updates: readonly TableUpdate[]): void {
  withPublicErrors(() => currentBackend().step(updates));
}
