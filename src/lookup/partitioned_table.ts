/** A table that comes as a list of row partitions, as TensorFlow's partitioned variables do. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import { checkIds, type BagOptions } from '../backends/kernel_set.js';
import { tableOf } from '../backends/table.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkTable } from './arguments.js';
import { withPublicErrors, lookUp } from './lookup.js';
import { maxPooled, withoutMax } from './max_pooling.js';

/** `mod`: row i is row floor(i / n) of table i mod n. `div`: each table holds a contiguous range. */
export type PartitionStrategy = 'mod' | 'div';

export function checkPartitionStrategy(strategy: unknown): PartitionStrategy {
  if (strategy === undefined || strategy === null) return 'mod';
  if (typeof strategy !== 'string') throw new ArgumentTypeError('partitionStrategy', `'mod' or 'div'`, strategy);
  if (strategy !== 'mod' && strategy !== 'div') {
    throw new ValueError('partitionStrategy', `'mod' or 'div'`, strategy);
  }
  return strategy;
}

/** The partitions of a table; one that comes alone is its only one. */
export function checkTables(table: unknown): tf.Tensor2D[] {
  if (!Array.isArray(table)) return [checkTable(table)];
  if (table.length === 0) throw new ValueError('table', 'at least one partition', described('an empty list'));
  const partitions = (table as unknown[]).map((each, i) => checkTable(each, `table[${i}]`));
  const dim = partitions[0]!.shape[1];
  partitions.forEach((partition, i) => {
    if (partition.shape[1] !== dim) throw new ValueError(`table[${i}]`, `${dim} columns, as table[0] has`, partition);
  });
  return partitions;
}

/** For each partition: the ids as its own row numbers, -1 where another partition holds the row. */
function localIds(ids: Int32Array, sizes: readonly number[], strategy: PartitionStrategy): Int32Array[] {
  const count = sizes.length;
  const locals = sizes.map(() => new Int32Array(ids.length).fill(-1));
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
  ids.forEach((id, position) => {
    if (id < 0) return;
    let owner = id % count;
    let row = Math.floor(id / count);
    if (strategy === 'div') {
      owner = starts.filter((start) => start <= id).length - 1;
      row = id - starts[owner]!;
    }
    if (row < sizes[owner]!) locals[owner]![position] = row;
  });
  return locals;
}

/**
 * Pooled rows over partitions, or of an only one: each pools the rows that it holds and takes the others as zeros that stay in the
 * divisor, so the sum of the partial results is the whole, and gradients reach every partition. For `max` these are rows.
 */
export function lookUpPartitions(
  partitions: readonly tf.Tensor2D[],
  strategy: PartitionStrategy,
  bags: BagTensors,
  options: BagOptions,
): tf.Tensor2D {
  if (partitions.length === 1) return lookUp([{ table: tableOf(partitions[0]!), bags, options }])[0]!;
  const sizes = partitions.map((partition) => partition.shape[0]);
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  if (strategy === 'mod') checkModSizes(sizes, rows);
  const ids = bags.values.dataSync<'int32'>();
  withPublicErrors(() => checkIds(ids, rows, options));
  const locals = localIds(ids, sizes, strategy);
  const single = withoutMax({ bags, options });
  const lookups = partitions.map((table, i) => {
    const ownBags = { ...single.bags, values: tf.tensor1d(locals[i]!, 'int32') };
    return { table: tableOf(table), bags: ownBags, options: { ...single.options, outOfRange: 'zero' as const } };
  });
  const found = tf.addN(lookUp(lookups));
  return options.combiner === 'max' ? maxPooled(found, bags.rowSplits) : found;
}

function checkModSizes(sizes: readonly number[], rows: number): void {
  const count = sizes.length;
  sizes.forEach((size, i) => {
    const expected = Math.ceil((rows - i) / count);
    if (size === expected) return;
    const received = described(`${size} rows`);
    throw new ValueError(`table[${i}]`, `${expected} of ${rows} rows for partitionStrategy 'mod'`, received);
  });
}
