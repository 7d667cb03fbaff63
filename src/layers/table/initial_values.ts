/** The values that a table begins with: the same on every backend, however the table is cut. */
import * as tf from '@tensorflow/tfjs';
import { fillPart, type Fill } from '../../backends/fill.js';
import type { TableSize } from '../../partition/table_layout.js';
import type { Initializer } from './initializers.js';
import { appliedTo, applyInBlocks, fillOf, type TableToFill } from './table_fill.js';

/** A table of these values on the host. */
export function filledTable({ rows, columns }: TableSize, fill: Fill): tf.Tensor2D {
  const values = new Float32Array(rows * columns);
  // Zeros that nobody writes cost no memory: a table that is loaded begins so.
  const isFilled = fill.kind !== 'constant' || !Object.is(fill.value, 0);
  if (isFilled) fillPart(values, { firstRow: 0, rowStep: 1, rows, firstColumn: 0, columns }, fill);
  return tf.tensor2d(values, [rows, columns], 'float32');
}

/** A table on the host from an initializer that has no fill, in the blocks in which devices get it. */
export function appliedTable(table: TableToFill, initializer: Initializer): tf.Tensor2D {
  const { rows, columns } = table;
  const values = new Float32Array(rows * columns);
  applyInBlocks(initializer, table, (firstRow, block) => values.set(block, firstRow * columns));
  return tf.tensor2d(values, [rows, columns], 'float32');
}

/** An initializer that gives what this one gives, once that fits the table. */
export function checkedInitializer(initializer: Initializer, table: TableToFill): Initializer {
  return initializerOf(() => {
    // For the numbers of its config, which tfjs does not look at.
    fillOf(initializer, table, 0);
    return tf.tidy(() => appliedTo(table, initializer));
  });
}

/** An initializer that gives a tensor that was made otherwise. */
export function initializerOf(make: () => tf.Tensor): Initializer {
  return { apply: make } as unknown as Initializer;
}

const SEEDS = 2 ** 32;
const TABLES = 2 ** 20;

/** A seed of its own for each table of a layer; null without a seed of the layer. */
export function tableSeed(layerSeed: number | null, table: number): number | null {
  if (layerSeed === null) return null;
  return (((layerSeed % SEEDS) + SEEDS) % SEEDS) * TABLES + (table % TABLES);
}
