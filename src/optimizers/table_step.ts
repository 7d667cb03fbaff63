/** One update of one table from everything that the batch said about it. */
import * as tf from '@tensorflow/tfjs';
import { SINGLE_ROW, type BagOptions } from '../backends/kernel_set.js';
import type { LookupGradient, TableUpdate } from '../backends/lookup.js';
import { numbersShape, packedForm } from '../backends/packed/packed_table.js';
import { backendPart, type BackendPart, type JoinedUpdate } from '../backends/registry.js';
import type { OptimizerName } from '../rules/rules.js';
import { rowGradients, type RowGradientTensors } from '../lookup/row_gradients.js';
import { withPublicErrors } from '../lookup/kernel_errors.js';
import { singleRows } from '../lookup/single_rows.js';
import { IndexedSlices } from './indexed_slices.js';

/** All that a batch said about one table. */
export type TableGradient = Pick<TableUpdate, 'entries' | 'dense'>;

/** Rows and their summed gradients as bags of one id each. */
export function ofRows(ids: tf.Tensor1D, gradient: tf.Tensor2D): LookupGradient {
  return { gradient, bags: singleRows(ids), options: SINGLE_ROW };
}

/**
 * Makes one gradient of several: a table is stepped once, with the sum over all its uses, since stepping it per use
 * would not be the optimizer's step. A single lookup goes to the fused kernel as it is.
 */
function unite({ table, entries, dense }: TableGradient & Pick<TableUpdate, 'table'>): LookupGradient {
  if (entries.length === 1 && dense === null) return entries[0]!;
  const matrix = table as unknown as tf.Tensor2D;
  const parts = entries.map((entry) => rowGradients(entry, matrix.shape[0], matrix));
  const ids = parts.map((part) => part.uniqueIds);
  const gradients = parts.map((part) => part.rowGradients);
  if (dense !== null) {
    // Tied weights: the dense gradient joins as one that touches every row.
    ids.push(tf.range(0, table.shape[0], 1, 'int32'));
    gradients.push(dense);
  }
  return ids.length === 1 ? ofRows(ids[0]!, gradients[0]!) : ofRows(tf.concat1d(ids), tf.concat2d(gradients, 0));
}

/** The sum over all uses of a table, by the rows that were touched. Call inside a tidy. */
export function rowsOf(table: tf.Variable, given: TableGradient): RowGradientTensors {
  const matrix = table as unknown as tf.Tensor2D;
  return rowGradients(unite({ table, ...given }), matrix.shape[0], matrix);
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

function stepOne(update: TableUpdate): void {
  const { optimizer, table, slots, hyper } = update;
  const part = backendPart();
  const form = packedForm(table);
  tf.tidy(() => {
    const { gradient, bags, options } = unite(update);
    if (form === undefined) part.sparseApply(optimizer, table, slots, gradient, bags, options, hyper);
    else part.packed!.apply(optimizer, table, form, slots, gradient, bags, options, hyper);
  });
}

/** What is common to all uses, where their gradients may go to the kernel side by side; else null. */
function commonOptions({ entries, dense }: TableUpdate): BagOptions | null {
  if (dense !== null) return null;
  const common = entries.find(({ options }) => options !== SINGLE_ROW)?.options ?? SINGLE_ROW;
  const { combiner, outOfRange, maxNorm } = common;
  const fits = entries.every(({ options, bags }) => {
    // A single row that exists is the same under every combiner.
    if (options === SINGLE_ROW && maxNorm === 0 && bags.weights === null) return true;
    return options.combiner === combiner && options.outOfRange === outOfRange && options.maxNorm === maxNorm;
  });
  return fits ? common : null;
}

function joined(update: TableUpdate): JoinedUpdate {
  const common = commonOptions(update);
  if (common !== null) return { ...update, options: common };
  const one = unite(update);
  return { ...update, entries: [one], options: one.options };
}

function stepTogether(part: BackendPart, updates: readonly TableUpdate[]): void {
  if (part.update !== undefined) {
    part.update(updates);
    return;
  }
  const apply = part.sparseApplyMany;
  if (apply === undefined || updates.length < 2) {
    updates.forEach(stepOne);
    return;
  }
  tf.tidy(() => {
    const byOptimizer = new Map<OptimizerName, JoinedUpdate[]>();
    for (const update of updates) {
      byOptimizer.set(update.optimizer, [...(byOptimizer.get(update.optimizer) ?? []), joined(update)]);
    }
    for (const [optimizer, list] of byOptimizer) apply(optimizer, list);
  });
}

/**
 * Steps tables and their slots in place. Devices unite the entries of a table themselves, in the same way. Tables of
 * packed rows go one by one.
 */
export function stepTables(updates: readonly TableUpdate[]): void {
  const part = backendPart();
  const packed = updates.filter(({ table }) => packedForm(table) !== undefined);
  const plain = packed.length === 0 ? updates : updates.filter(({ table }) => packedForm(table) === undefined);
  withPublicErrors(() => {
    if (plain.length > 0) stepTogether(part, plain);
    packed.forEach(stepOne);
  });
}
