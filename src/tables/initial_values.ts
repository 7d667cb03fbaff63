/** The values that a table begins with: the same on every backend, however the table is cut. */
import * as tf from '@tensorflow/tfjs';
import { fillPart, type Fill } from '../backends/fill.js';
import { rowBlocks, rowsAtOnce } from '../base/row_blocks.js';
import type { TableSize } from '../partition/table_layout.js';
import { drawnBy } from './drawn_values.js';
import type { FillRows, Initializer, RowsInitializer, TableToFill } from './initializers.js';
import type { WeightForm } from './storage.js';
import { appliedTo, applyInBlocks, applyWhole, fillOf } from './table_fill.js';
import { writtenTable } from '../backends/written_table.js';

export const ZEROS: Fill = { kind: 'constant', value: 0 };

/** Hands over the values that `make` puts into the first numbers of a block, block by block. */
function inBlocks(size: TableSize, make: (block: Float32Array, firstRow: number, rows: number) => void): FillRows {
  const { rows, columns } = size;
  return (write) => {
    const whole = new Float32Array(Math.min(rows, rowsAtOnce(columns)) * columns);
    for (const part of rowBlocks(size)) {
      const block = whole.subarray(0, part.rows * columns);
      make(block, part.firstRow, part.rows);
      write(part.firstRow, block);
    }
  };
}

function filledRows(size: TableSize, fill: Fill): FillRows {
  const { columns } = size;
  // Zeros that are not written cost no memory: a table that is loaded begins so.
  if (fill.kind === 'constant' && Object.is(fill.value, 0)) return () => {};
  return inBlocks(size, (block, firstRow, rows) => {
    fillPart(block, { firstRow, rowStep: 1, rows, firstColumn: 0, columns }, fill);
  });
}

/** A table of these values on the host. */
export function filledTable(size: TableSize, fill: Fill): tf.Tensor2D {
  return writtenTable([size.rows, size.columns], filledRows(size, fill));
}

/** What a weight is made with where a model that is being loaded overwrites it at once. */
export function zerosOf({ shape, dtype }: WeightForm): Initializer {
  const [rows, columns] = shape;
  return initializerOf(() => (dtype === 'float32' ? filledTable({ rows, columns }, ZEROS) : tf.zeros(shape, dtype)));
}

/** A table on the host from an initializer that has no fill, in the blocks in which devices get it. */
export function appliedTable(table: TableToFill, initializer: Initializer): tf.Tensor2D {
  return writtenTable([table.rows, table.columns], appliedRows(table, initializer));
}

function appliedRows(table: TableToFill, initializer: Initializer): FillRows {
  return (write) => applyInBlocks(initializer, table, write);
}

/** An initializer of a table on the host that is filled so. */
export function filledInitializer(size: TableSize, fill: Fill): RowsInitializer {
  return initializerOfRows(size, filledRows(size, fill));
}

/** An initializer of a table on the host from one that has no fill. */
export function appliedInitializer(table: TableToFill, initializer: Initializer): RowsInitializer {
  return initializerOfRows(table, appliedRows(table, initializer));
}

/** An initializer that gives what this one gives, once that fits the table: row by row where it is a stock one. */
export function checkedInitializer(initializer: Initializer, table: TableToFill): RowsInitializer {
  const apply = (): tf.Tensor => {
    const fillRows = stockRows(initializer, table);
    if (fillRows === null) return tf.tidy(() => appliedTo(table, initializer));
    return writtenTable([table.rows, table.columns], fillRows);
  };
  const fillRows: FillRows = (write) => {
    const fill = stockRows(initializer, table);
    if (fill === null) applyWhole(initializer, table, write);
    else fill(write);
  };
  return Object.assign(initializerOf(apply), { fillRows });
}

/** The rows of a stock initializer whose numbers can be used; null for one that must be applied to the whole table. */
function stockRows(initializer: Initializer, table: TableToFill): FillRows | null {
  const fill = fillOf(initializer, table, 0);
  if (fill?.kind === 'constant') return filledRows(table, fill);
  const draw = drawnBy(initializer, table);
  return draw === null ? null : inBlocks(table, draw);
}

function initializerOfRows({ rows, columns }: TableSize, fillRows: FillRows): RowsInitializer {
  return Object.assign(
    initializerOf(() => writtenTable([rows, columns], fillRows)),
    { fillRows },
  );
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
