/** Rows of text with named columns, and CSV files that hold them. */
import { readFileSync } from 'node:fs';
import { parse, CsvError } from 'csv-parse/sync';
import { InputError } from '../input_error.mjs';

export interface TextTable {
  /** Names of the columns, all different. */
  readonly columns: readonly string[];
  /** One string per column and row. */
  readonly rows: readonly (readonly string[])[];
}

/** Reads a CSV file with a header line. Throws InputError, with the line, for anything that is none. */
export function readCsv(path: string): TextTable {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new InputError(code === 'ENOENT' ? `no such file: ${path}` : `cannot read ${path}: ${message}`);
  }
  let records: string[][];
  try {
    records = parse(text, { bom: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    if (error instanceof CsvError) throw new InputError(`${path}: ${error.message}`);
    throw error;
  }
  const [columns, ...rows] = records;
  if (columns === undefined) throw new InputError(`${path} is empty: expected a header line and rows`);
  if (rows.length === 0) throw new InputError(`${path} has a header but no rows`);
  if (columns.length < 2) throw new InputError(`${path}: expected a label and at least one more column`);
  columns.forEach((name, i) => {
    if (name === '') throw new InputError(`${path}: column ${i + 1} has no name in the header`);
    if (columns.indexOf(name) !== i) throw new InputError(`${path}: two columns are named "${name}"`);
  });
  return { columns, rows };
}

/** All cells of one column. Throws InputError where there is no such column. */
export function cellsOf(table: TextTable, column: string): string[] {
  const index = table.columns.indexOf(column);
  if (index < 0) throw new InputError(`no column "${column}"; there are: ${table.columns.join(', ')}`);
  return table.rows.map((row) => row[index]!);
}

/** The given rows of a table. */
export function pickRows(table: TextTable, indices: Iterable<number>): TextTable {
  return { columns: table.columns, rows: Array.from(indices, (i) => table.rows[i]!) };
}
