/** The values that a table begins with: the same on every backend, however the table is cut. */
import * as tf from '@tensorflow/tfjs';
import { fillPart, type Fill } from '../../backends/fill.js';
import type { TableSize } from '../../partition/table_layout.js';
import type { Initializer } from './initializers.js';
import type { WeightForm } from './storage.js';
import { appliedTo, applyInBlocks, fillOf, type TableToFill } from './table_fill.js';
import { writtenTable } from '../../ops/written_table.js';

export const ZEROS: Fill = { kind: 'constant', value: 0 };

/** Values that are made at once, where a table is made in blocks. */
const BLOCK = 2 ** 20;

/** A table of these values on the host. */
export function filledTable(size: TableSize, fill: Fill): tf.Tensor2D {
  const { rows, columns } = size;
  return writtenTable([rows, columns], (write) => {
    // Zeros that nobody writes cost no memory: a table that is loaded begins so.
    if (fill.kind === 'constant' && Object.is(fill.value, 0)) return;
    const high = Math.min(rows, Math.max(1, Math.floor(BLOCK / columns)));
    const block = new Float32Array(high * columns);
    for (let row = 0; row < rows; row += high) {
      const part = { firstRow: row, rowStep: 1, rows: Math.min(high, rows - row), firstColumn: 0, columns };
      fillPart(block, part, fill);
      write(row, block.subarray(0, part.rows * columns));
    }
  });
}

/** What a weight is made with where a model that is being loaded overwrites it at once. */
export function zerosOf({ shape, dtype }: WeightForm): Initializer {
  const [rows, columns] = shape;
  return initializerOf(() => (dtype === 'float32' ? filledTable({ rows, columns }, ZEROS) : tf.zeros(shape, dtype)));
}

/** A table on the host from an initializer that has no fill, in the blocks in which devices get it. */
export function appliedTable(table: TableToFill, initializer: Initializer): tf.Tensor2D {
  return writtenTable([table.rows, table.columns], (write) => applyInBlocks(initializer, table, write));
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
