/** The updates of a step as kernels take them: all that a batch said about a table, side by side. */
import * as tf from '@tensorflow/tfjs';
import type { Gradients, LookupGradient, TableUpdate } from './contract.js';
import { SINGLE_ROW, type BagOptions } from './kernel_set.js';
import { packedForm } from './packed/packed_table.js';
import { ofRows } from './single_rows.js';

/** One exact step of one table, by the sum over uses that are combined alike; bags of single ids may be among them. */
export interface JoinedUpdate extends Pick<TableUpdate, 'optimizer' | 'table' | 'slots' | 'hyper'> {
  readonly entries: readonly Pick<LookupGradient, 'gradient' | 'bags'>[];
  readonly options: BagOptions;
}

/**
 * Makes one gradient of several: a table is stepped once, with the sum over all its uses, since stepping it per use
 * would not be the optimizer's step. A single lookup stays as it is. Call inside a tidy.
 */
export function united(
  { table, entries, dense }: Pick<TableUpdate, 'table' | 'entries' | 'dense'>,
  gradients: Gradients,
): LookupGradient {
  if (entries.length === 1 && dense === null) return entries[0]!;
  const matrix = table as unknown as tf.Tensor2D;
  const parts = entries.map((entry) => gradients.byRow(entry, matrix.shape[0], matrix));
  // Tied weights: the dense gradient joins as one that touches every row.
  if (dense !== null) parts.push({ uniqueIds: tf.range(0, table.shape[0], 1, 'int32'), rowGradients: dense });
  if (parts.length === 1) return ofRows(parts[0]!.uniqueIds, parts[0]!.rowGradients);
  const ids = tf.concat1d(parts.map(({ uniqueIds }) => uniqueIds));
  return ofRows(ids, tf.concat2d(parts.map(({ rowGradients }) => rowGradients), 0)); // prettier-ignore
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

/** An update with one gradient. Call inside a tidy. */
export function unitedUpdate(update: TableUpdate, gradients: Gradients): JoinedUpdate {
  const one = united(update, gradients);
  return { ...update, entries: [one], options: one.options };
}

/** An update whose uses lie side by side where they are combined alike; packed rows take one. Call inside a tidy. */
function joined(update: TableUpdate, gradients: Gradients): JoinedUpdate {
  const common = packedForm(update.table) === undefined ? commonOptions(update) : null;
  return common === null ? unitedUpdate(update, gradients) : { ...update, options: common };
}

/** The updates that may run as one call: those of float32 rows by optimizer, and each of packed rows. Call inside a tidy. */
export function joinedUpdates(updates: readonly TableUpdate[], gradients: Gradients): JoinedUpdate[][] {
  const groups = new Map<unknown, JoinedUpdate[]>();
  for (const update of updates) {
    const key = packedForm(update.table) === undefined ? update.optimizer : update;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [joined(update, gradients)]);
    else group.push(joined(update, gradients));
  }
  return [...groups.values()];
}
