/** Values that are written into tables: all are checked before the first is written, and large ones go in pieces. */
import * as tf from '@tensorflow/tfjs';
import type { Devices } from '../backends/contract.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { openTable, type TableFile } from '../io/table_file.js';
import { isRecord, readOptions } from '../base/options.js';
import { readTableValues, tableTensor, type TableValues } from './pretrained.js';

/** What the caller gives for one table. */
export interface TableSource {
  /** Number of the table. */
  readonly table: number;
  /** What it is called in errors. */
  readonly argument: string;
  /** A tensor, nested or typed arrays, or the path of a .npy file. */
  readonly values: unknown;
}

/** Values of all tables, in their order. */
export function sourcesInOrder(weights: unknown, names: readonly string[]): TableSource[] {
  const expected = `a list of ${names.length} tables: ${names.join(', ')}`;
  if (!Array.isArray(weights)) throw new ArgumentTypeError('weights', expected, weights);
  if (weights.length !== names.length) {
    throw new ValueError('weights', expected, described(`a list of ${weights.length}`));
  }
  return Array.from(weights as unknown[], (values, table) => ({ table, argument: `weights[${table}]`, values }));
}

/** Values of some tables, by name. */
export function sourcesByName(tables: unknown, names: readonly string[]): TableSource[] {
  const expected = `an object with some of ${names.join(', ')}`;
  if (!isRecord(tables)) throw new ArgumentTypeError('tables', expected, tables);
  return Object.keys(tables).map((name) => {
    const table = names.indexOf(name);
    const argument = `tables[${JSON.stringify(name)}]`;
    if (table < 0) throw new ValueError(argument, `one of ${names.join(', ')}`, described('no table of that name'));
    return { table, argument, values: tables[name] };
  });
}

/** The same, and where it goes. */
export interface TableWrite extends TableSource {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  /** Takes float32, whatever it is kept in. */
  readonly weight: tf.LayerVariable;
  readonly devices: Pick<Devices, 'writeRows'> | null;
}

const CHUNK = 134217728;

function readChunk(options: unknown): number {
  const { chunkElements } = readOptions<{ chunkElements: number }>(options ?? {}, ['chunkElements'], 'options');
  if (chunkElements === undefined || chunkElements === null) return CHUNK;
  const expected = 'a whole number above 0';
  if (typeof chunkElements !== 'number') throw new ArgumentTypeError('chunkElements', expected, chunkElements);
  if (!Number.isSafeInteger(chunkElements) || chunkElements < 1) {
    throw new ValueError('chunkElements', expected, chunkElements);
  }
  return chunkElements;
}

/** Values that were checked against their table. */
type Checked = { readonly file: TableFile } | { readonly values: TableValues };

function check({ argument, values, name, rows, columns }: TableWrite): Checked {
  const expected = `table ${name} of shape [${rows}, ${columns}]`;
  if (typeof values === 'string') {
    const file = openTable(values, argument);
    if (file.rows === rows && file.columns === columns) return { file };
    file.close();
    throw new ValueError(argument, expected, described(`shape [${file.rows}, ${file.columns}] in ${values}`));
  }
  try {
    return { values: readTableValues([values], rows, columns) };
  } catch (error) {
    const { received } = error as { received?: string };
    if (received === undefined) throw error;
    const Same = error instanceof TypeError ? ArgumentTypeError : ValueError;
    throw new Same(argument, expected, described(received), (error as Error).message);
  }
}

/** Rows from a row on, row-major. */
type ReadRows = (firstRow: number, rows: number) => Float32Array;

function write({ weight, rows, columns, devices }: TableWrite, checked: Checked, chunk: number): void {
  if (devices === null && 'values' in checked) {
    const { values } = checked;
    writeWhole(weight, () => tableTensor(values, rows, columns));
    return;
  }
  const atOnce = Math.min(rows, Math.max(1, Math.floor(chunk / columns)));
  const read = readerOf(checked, columns);
  // Without devices the table lies on the host anyway.
  const whole = devices === null ? new Float32Array(rows * columns) : null;
  for (let row = 0; row < rows; row += atOnce) {
    const values = read(row, Math.min(atOnce, rows - row));
    if (whole === null) devices!.writeRows(weight.read() as tf.Variable, row, values);
    else whole.set(values, row * columns);
  }
  if (whole !== null) writeWhole(weight, () => tf.tensor2d(whole, [rows, columns]));
}

function writeWhole(weight: tf.LayerVariable, make: () => tf.Tensor): void {
  tf.tidy(() => {
    weight.write(make());
  });
}

function readerOf(checked: Checked, columns: number): ReadRows {
  if ('file' in checked) return (firstRow, rows) => checked.file.read(firstRow, rows);
  const { values } = checked;
  const flat = values instanceof tf.Tensor ? values.dataSync<'float32'>() : (values as Float32Array);
  return (firstRow, rows) => flat.subarray(firstRow * columns, (firstRow + rows) * columns);
}

/** Writes all tables, or none where anything is wrong. */
export function writeTables(writes: readonly TableWrite[], options: unknown): void {
  const chunk = readChunk(options);
  const checked: Checked[] = [];
  try {
    for (const each of writes) checked.push(check(each));
    writes.forEach((each, i) => write(each, checked[i]!, chunk));
  } finally {
    for (const each of checked) if ('file' in each) each.file.close();
  }
}
