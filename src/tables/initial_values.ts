/** The values that a table begins with: the same on every backend, however the table is cut. */
import * as tf from '@tensorflow/tfjs';
import type { Devices } from '../backends/contract.js';
import { fillPart, type Fill } from '../backends/fill.js';
import { rowBlocks, rowsAtOnce } from '../base/row_blocks.js';
import type { TableLayout, TableSize } from '../partition/table_layout.js';
import { drawnBy } from './drawn_values.js';
import type { FillRows, Initializer, RowsInitializer, TableToFill } from './initializers.js';
import type { WeightForm } from './storage.js';
import { appliedTo, applyInBlocks, applyWhole, fillOf, withSeed } from './table_fill.js';
import { writtenTable } from '../backends/stores/table_rows.js';

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

export function filledRows(size: TableSize, fill: Fill): FillRows {
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

function appliedRows(table: TableToFill, initializer: Initializer): FillRows {
  return (write) => applyInBlocks(initializer, table, write);
}

/** How a new table comes to its values. */
export interface Beginning {
  /** What its tensor is made of. */
  readonly values: RowsInitializer;
  /** Writes rows that are not in it yet, once it is a variable; null: all are. */
  readonly write: ((variable: tf.Variable) => void) | null;
}

/** On devices that make fills by themselves, as `layout` says; null: where tables lie on the backend in use. */
export interface BegunOn {
  readonly devices: Devices;
  readonly layout: TableLayout;
  readonly name: string;
}

/** How a table begins, by an initializer and the seed of what has none of its own. */
export function beginningOf(
  table: TableToFill,
  initializer: Initializer,
  seed: number | null,
  on: BegunOn | null,
): Beginning {
  const fill = fillOf(initializer, table, seed);
  const seeded = withSeed(initializer, seed);
  if (on === null) {
    const rows = fill === null ? appliedRows(table, seeded) : filledRows(table, fill);
    return { values: initializerOfRows(table, rows), write: null };
  }
  const { devices } = on;
  const values = placedInitializer(on, fill ?? ZEROS);
  // Others than known ones run on the host; devices then get their rows, unless tables are there that others made.
  if (fill !== null || devices.joins) return { values, write: null };
  const write = (variable: tf.Variable): void => {
    applyInBlocks(seeded, table, (row, block) => devices.writeRows(variable, row, block));
  };
  return { values, write };
}

/** An initializer of a table that devices fill. */
export function placedInitializer({ devices, ...where }: BegunOn, fill: Fill): Initializer {
  return initializerOf(() => devices.create({ ...where, fill }));
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

/** An initializer that hands over its rows. */
export function initializerOfRows({ rows, columns }: TableSize, fillRows: FillRows): RowsInitializer {
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
