/** How the rows of a table are kept, as users ask for it and as tfjs makes it. */
import * as tf from '@tensorflow/tfjs';
import { readRows, withRows, writtenTable } from '../backends/stores/table_rows.js';
import { plainForm, type TableForm } from '../backends/table.js';
import { rowBlocks } from '../base/row_blocks.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import { convertWrites } from '../tfjs/layer_weights.js';
import type { FillRows, Initializer, RowsInitializer } from './initializers.js';
import type { Storage } from '../codecs/codec.js';
import { codecOf, STORAGES } from '../codecs/codecs.js';

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

const configs = (): { areFloats: boolean } => perProcess('configs of storage', () => ({ areFloats: false }));

/** Runs `write`, during which the configs of tables say that their rows are float32. */
export function asFloat32<T>(write: () => T): T {
  const shared = configs();
  const before = shared.areFloats;
  shared.areFloats = true;
  try {
    return write();
  } finally {
    shared.areFloats = before;
  }
}

/** The fields of a config that say how rows are kept and by which seed they are rounded, where they are not float32. */
export function storageFields(storage: Storage, seed: number | null = null): { storage?: Storage; seed?: number } {
  const codec = codecOf(storage);
  if (codec.isPlain || configs().areFloats) return {};
  return { storage, ...(codec.training === 'rounded' && seed !== null ? { seed } : {}) };
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

/** The variable in which a table of this form lies. */
export function weightForm({ codec, dim }: TableForm, rows: number): WeightForm {
  return { shape: [rows, codec.words(dim)], dtype: codec.dtype };
}

/** Has a weight of words take the numbers that they stand for too, as float32 [rows, dim]. `name`: in errors. */
export function acceptFloats(weight: tf.LayerVariable, form: TableForm, name: string): void {
  if (form.codec.isPlain) return;
  convertWrites(weight, (value) => {
    // A table may get more rows.
    const isFloats = value.dtype === 'float32' && tf.util.arraysEqual(value.shape, [weight.shape[0]!, form.dim]);
    return isFloats ? convertedRows(value, plainForm(form.dim), form, name) : null;
  });
}

/** All rows of a table as float32. */
function rowsOf(table: tf.Tensor, form: TableForm): FillRows {
  const rows = table.shape[0]!;
  return (write) => {
    for (const block of rowBlocks({ rows, columns: form.dim })) {
      write(block.firstRow, form.codec.unpack(readRows(table, block.firstRow, block.rows), form.dim));
    }
  };
}

/** Refuses numbers that a codec cannot keep. `firstRow`: of the table `name`, in errors. */
export function checkPackable(values: Float32Array, firstRow: number, { codec, dim }: TableForm, name: string): void {
  const bad = codec.firstUnpackable(values, dim);
  if (bad === null) return;
  const received = described(`${bad.value} in row ${firstRow + bad.row}, column ${bad.column} of table ${name}`);
  throw new ValueError('storage', `numbers that ${codec.name} can keep: ${bad.reason}`, received);
}

/** The rows that `fillRows` hands over as a tensor of words. `name`: of the table, in errors. */
function packedFrom(fillRows: FillRows, rows: number, form: TableForm, name: string): tf.Tensor2D {
  const { codec, dim } = form;
  const perRow = codec.words(dim);
  const words = new Int32Array(rows * perRow);
  fillRows((firstRow, values) => {
    checkPackable(values, firstRow, form, name);
    codec.pack(values, dim, words, firstRow);
  });
  return tf.tensor2d(words, [rows, perRow], 'int32');
}

/** The rows of a table of one form as a tensor of another. `name`: of the table, in errors. */
export function convertedRows(table: tf.Tensor, from: TableForm, to: TableForm, name: string): tf.Tensor {
  if (from.codec.isPlain && to.codec.isPlain) return table.clone();
  return to.codec.isPlain
    ? writtenTable([table.shape[0]!, to.dim], rowsOf(table, from))
    : packedFrom(rowsOf(table, from), table.shape[0]!, to, name);
}

/** The values of a table with more rows at its end. `name`: of the table, in errors. */
export function withMoreRows(
  table: tf.Tensor,
  form: TableForm,
  more: number,
  fillRows: FillRows,
  name: string,
): tf.Tensor {
  if (form.codec.isPlain) return withRows<tf.Tensor>(table, more, fillRows);
  return tf.tidy(() => tf.concat([table, packedFrom(fillRows, more, form, name)]));
}

/** What a table's weight begins with: what an initializer gives, in the table's own form. */
export function formInitializer(
  initializer: RowsInitializer,
  shape: [rows: number, dim: number],
  form: TableForm,
  name: string,
): Initializer {
  if (form.codec.isPlain) return initializer;
  const apply = (): tf.Tensor => {
    // A converted table is written at once.
    if (isConverting()) return tf.zeros(weightForm(form, shape[0]).shape, form.codec.dtype);
    const { fillRows } = initializer;
    if (fillRows !== undefined) return packedFrom(fillRows, shape[0], form, name);
    return tf.tidy(() =>
      convertedRows(initializer.apply(shape, 'float32') as tf.Tensor, plainForm(shape[1]), form, name),
    );
  };
  return { apply } as unknown as Initializer;
}
