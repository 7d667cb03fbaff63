/** How the rows of a table are kept, as users ask for it and as tfjs makes it. */
import * as tf from '@tensorflow/tfjs';
import { readRows } from '../backends/grown_variable.js';
import { packRows, firstUnpackable, unpackRows } from '../backends/packed/rows.js';
import { wordsPerRow, type PackedForm } from '../backends/kernel_set.js';
import { rowBlocks } from '../base/row_blocks.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import { convertWrites } from '../tfjs/layer_weights.js';
import { writtenTable } from '../backends/written_table.js';
import type { FillRows, Initializer, RowsInitializer } from './initializers.js';
import { STORAGES, type Storage } from '../base/types.js';

/** A table that a conversion made. */
export interface ConvertedTable {
  /** Freezes the layers that hold it. */
  freeze(): void;
}

interface Conversion {
  /** The storage of all tables that are made now, whatever their configs say; null: what the configs say. */
  storage: Storage | null;
  tables: ConvertedTable[];
}

const conversion = (): Conversion => perProcess('quantize', () => ({ storage: null, tables: [] }));

/** Runs `build`, which makes tables: each with this storage, and without its initial values. They are told too. */
export function convertingTo<T>(storage: Storage, build: () => T): { built: T; tables: readonly ConvertedTable[] } {
  const current = conversion();
  const before = { ...current };
  Object.assign(current, { storage, tables: [] });
  try {
    const built = build();
    return { built, tables: current.tables };
  } finally {
    Object.assign(current, before);
  }
}

/** Tells of a table that is made now. */
export function noteTable(table: ConvertedTable): void {
  if (isConverting()) conversion().tables.push(table);
}

/** Whether tables that are made now are written at once. */
export function isConverting(): boolean {
  return conversion().storage !== null;
}

/** The storage of a table, float32 unless something else is asked for. */
export function readStorage(value: unknown): Storage {
  const { storage } = conversion();
  if (storage !== null) return storage;
  if (value === undefined || value === null) return 'float32';
  const expected = `one of ${STORAGES.join(', ')}`;
  if (typeof value !== 'string') throw new ArgumentTypeError('storage', expected, value);
  const known = STORAGES.find((each) => each === value);
  if (known === undefined) throw new ValueError('storage', expected, value);
  return known;
}

/** The variable of a table: its shape and dtype. */
export interface WeightForm {
  readonly shape: [rows: number, columns: number];
  readonly dtype: 'float32' | 'int32';
}

/** The variable in which a table of this storage lies. */
export function weightForm(storage: Storage, rows: number, dim: number): WeightForm {
  if (storage === 'float32') return { shape: [rows, dim], dtype: 'float32' };
  return { shape: [rows, wordsPerRow(storage, dim)], dtype: 'int32' };
}

/** Rows of a table as float32, whatever it is kept as; `form`: of packed rows. */
function readFloats(table: tf.Tensor, form: PackedForm | undefined, first: number, rows: number): Float32Array {
  if (form === undefined) return readRows(table, first, rows);
  const slice = table.slice([first, 0], [rows, table.shape[1]!]);
  try {
    return unpackRows(slice.dataSync<'int32'>(), form.storage, form.dim);
  } finally {
    slice.dispose();
  }
}

/** Has a weight of words take the numbers that they stand for too, as float32 [rows, dim]. `name`: in errors. */
export function acceptFloats(weight: tf.LayerVariable, form: PackedForm, name: string): void {
  convertWrites(weight, (value) => {
    // A table may get more rows.
    const isFloats = value.dtype === 'float32' && tf.util.arraysEqual(value.shape, [weight.shape[0]!, form.dim]);
    return isFloats ? packedTensor(value, undefined, form, name) : null;
  });
}

/** All rows of a table as float32; `form`: of packed rows. */
function rowsOf(table: tf.Tensor, form: PackedForm | undefined): FillRows {
  const [rows, width] = table.shape as [number, number];
  return (write) => {
    for (const block of rowBlocks({ rows, columns: form?.dim ?? width })) {
      write(block.firstRow, readFloats(table, form, block.firstRow, block.rows));
    }
  };
}

/** The rows that `fillRows` hands over as a tensor of words. `name`: of the table, in errors. */
export function packedFrom(fillRows: FillRows, rows: number, { storage, dim }: PackedForm, name: string): tf.Tensor2D {
  const perRow = wordsPerRow(storage, dim);
  const words = new Int32Array(rows * perRow);
  fillRows((firstRow, values) => {
    const bad = firstUnpackable(values, storage, dim);
    if (bad !== null) {
      const place = `row ${firstRow + bad.row}, column ${bad.column} of table ${name}`;
      const received = described(`${bad.value} in ${place}`);
      throw new ValueError('storage', `numbers that ${storage} can keep: ${bad.reason}`, received);
    }
    packRows(values, storage, dim, words, firstRow);
  });
  return tf.tensor2d(words, [rows, perRow], 'int32');
}

/** The rows of a table [rows, dim] as a tensor of words. `name`: of the table, in errors. */
export function packedTensor(
  table: tf.Tensor,
  from: PackedForm | undefined,
  form: PackedForm,
  name: string,
): tf.Tensor2D {
  return packedFrom(rowsOf(table, from), table.shape[0]!, form, name);
}

/** An initializer of words: those of the values that another one gives. */
export function packedInitializer(
  initializer: RowsInitializer,
  shape: [rows: number, dim: number],
  form: PackedForm,
  name: string,
): Initializer {
  const apply = (): tf.Tensor => {
    // A converted table is written at once.
    if (isConverting()) return tf.zeros(weightForm(form.storage, ...shape).shape, 'int32');
    const { fillRows } = initializer;
    if (fillRows !== undefined) return packedFrom(fillRows, shape[0], form, name);
    return tf.tidy(() => packedTensor(initializer.apply(shape, 'float32') as tf.Tensor, undefined, form, name));
  };
  return { apply } as unknown as Initializer;
}

/** The values of a packed table, [rows, dim] float32. */
export function unpackedTensor(table: tf.Tensor, form: PackedForm): tf.Tensor2D {
  return writtenTable([table.shape[0]!, form.dim], rowsOf(table, form));
}
