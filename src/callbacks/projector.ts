/** Files of TensorBoard's projector: rows of tables as tab-separated text, their labels, and a config that names both. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { isRecord } from '../base/options.js';
import type { LogFolder } from './log_folder.js';

/** Labels of all rows of a table: one column, or several by name. */
export type RowLabels = readonly (string | number)[] | Readonly<Record<string, readonly (string | number)[]>>;

/** Rows of a table that are shown. */
export interface ShownRows {
  readonly name: string;
  /** Numbers of the rows. */
  readonly ids: Int32Array;
  readonly dim: number;
  readonly values: Float32Array;
  readonly labels: RowLabels | null;
}

const encoder = new TextEncoder();

/** A string of the text format of Protocol Buffers. */
function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, (character) => `\\${character}`);
  // eslint-disable-next-line no-control-regex -- those are what must be escaped
  return `"${escaped.replace(/[\x00-\x1f\x7f]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
}

function checkColumn(column: unknown, rows: number, argument: string): void {
  if (!Array.isArray(column)) throw new ArgumentTypeError(argument, 'a list of texts or numbers', column);
  if (column.length !== rows) {
    throw new ValueError(argument, `a label for each of ${rows} rows`, described(`${column.length} labels`));
  }
  column.forEach((label: unknown, row) => {
    const place = `${argument}[${row}]`;
    if (typeof label !== 'string' && typeof label !== 'number') {
      throw new ArgumentTypeError(place, 'a text or a number', label);
    }
    if (/[\t\n\r]/.test(`${label}`)) throw new ValueError(place, 'a text without tabs and ends of lines', label);
  });
}

/** Throws for labels that do not fit a table of so many rows. */
export function checkLabels(labels: unknown, rows: number, argument: string): asserts labels is RowLabels {
  if (Array.isArray(labels)) return checkColumn(labels, rows, argument);
  if (!isRecord(labels) || Object.keys(labels).length === 0) {
    throw new ArgumentTypeError(argument, 'a list of labels, or an object of such lists', labels);
  }
  for (const [name, column] of Object.entries(labels)) {
    if (/[\t\n\r]/.test(name)) throw new ValueError(argument, 'names without tabs and ends of lines', name);
    checkColumn(column, rows, `${argument}.${name}`);
  }
}

/** A line for each row; with names above them where there are several columns, as the projector wants it. */
function labelText(labels: RowLabels, ids: Int32Array): string {
  const line = (cells: readonly (string | number)[]): string => `${cells.join('\t')}\n`;
  if (Array.isArray(labels)) return Array.from(ids, (id) => line([(labels as readonly string[])[id]!])).join('');
  const columns = Object.entries(labels as Readonly<Record<string, readonly string[]>>);
  // Of one column the projector reads the name as a row.
  const head = columns.length === 1 ? '' : line(columns.map(([name]) => name));
  return head + Array.from(ids, (id) => line(columns.map(([, column]) => column[id]!))).join('');
}

function rowText({ values, ids, dim }: ShownRows): string {
  const lines: string[] = [];
  for (let row = 0; row < ids.length; row++) lines.push(values.subarray(row * dim, (row + 1) * dim).join('\t'));
  return lines.map((line) => `${line}\n`).join('');
}

/** A part of a file name for each table, none twice. */
function fileNames(tables: readonly ShownRows[]): string[] {
  const used = new Set<string>();
  return tables.map(({ name }) => {
    const plain = name.replace(/[^\w.-]/g, '_');
    let free = plain;
    for (let i = 2; used.has(free); i++) free = `${plain}_${i}`;
    used.add(free);
    return free;
  });
}

/** Writes the files, over those of before. */
export async function writeProjector(folder: LogFolder, tables: readonly ShownRows[]): Promise<void> {
  const config: string[] = [];
  const names = fileNames(tables);
  for (const [i, table] of tables.entries()) {
    const [rowsFile, labelsFile] = [`projector/${names[i]!}.tsv`, `projector/${names[i]!}_labels.tsv`];
    await folder.write(rowsFile, encoder.encode(rowText(table)));
    const numbers = Array.from(table.ids, (id) => `${id}\n`).join('');
    const labels = table.labels === null ? numbers : labelText(table.labels, table.ids);
    await folder.write(labelsFile, encoder.encode(labels));
    config.push(
      'embeddings {',
      `  tensor_name: ${quoted(table.name)}`,
      `  tensor_shape: ${table.ids.length}`,
      `  tensor_shape: ${table.dim}`,
      `  tensor_path: ${quoted(rowsFile)}`,
      `  metadata_path: ${quoted(labelsFile)}`,
      '}',
    );
  }
  await folder.write('projector_config.pbtxt', encoder.encode(`${config.join('\n')}\n`));
}
