/** Data sets of CSV files: papaparse reads the text, a piece at a time, in Node and in pages alike. */
import type * as papa from 'papaparse';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { loadPackage } from '../base/platform.js';
import { checkBoolean } from '../base/layer_arguments.js';
import { readOptions } from '../base/options.js';
import {
  DECLARATION_FIELDS,
  checkFound,
  readDeclaration,
  type ColumnType,
  type Declaration,
  type DeclarationArgs,
} from './column_spec.js';
import { checkSource, findFiles, unpackedPieces, type DataFile, type DataSource } from './data_file.js';
import { Dataset } from './dataset.js';
import { ISO_DATE, type RawChunk, type RawColumn } from './raw_column.js';

/** Options of `fromCsv`. */
export interface CsvArgs extends DeclarationArgs {
  /** What parts the fields of a line; ',' by default, a tab for files named `.tsv`. */
  delimiter?: string | undefined;
  /** Whether the first line names the columns; without one they are named column_0, column_1 and so on. */
  header?: boolean | undefined;
  /** Texts that stand for a missing value; the empty one by default. */
  naValues?: readonly string[] | undefined;
}

const FIELDS = [...DECLARATION_FIELDS, 'delimiter', 'header', 'naValues'] as const;
/** Rows of a chunk. */
const CHUNK_ROWS = 8192;
/** Characters; a quote that is never closed would make one row of all that follows. */
const LONGEST_ROW = 2 ** 26;
/** Rows that tell what a column holds. */
const LOOKED_AT = 1000;

/** How a file of text is laid out. */
export interface Format {
  readonly delimiter: string | null;
  readonly hasHeader: boolean;
}

type PapaParse = typeof papa;

const papaParse = (): Promise<PapaParse> =>
  loadPackage('papaparse', 'source', async () => {
    const module = (await import('papaparse')) as PapaParse & { default?: PapaParse };
    return module.default ?? module;
  });

/** What ends a line; a file ends all of them alike. */
function lineEnd(text: string): '\n' | '\r' | '\r\n' {
  const found = /\r\n|\n|\r/.exec(text.replace(/"(?:[^"]|"")*"/g, ''));
  return (found?.[0] ?? '\n') as '\n';
}

/** The lines of a file as lists of fields, some at a time, with the number of the first one. */
async function* recordsOf(file: DataFile, delimiter: string): AsyncGenerator<string[][]> {
  const { Parser } = await papaParse();
  let parser: papa.Parser | null = null;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  const decoded = (piece?: Uint8Array): string => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch {
      throw new ValueError('source', 'text in UTF-8', described(`${file.name}, which holds other bytes`));
    }
  };
  const parse = (isLast: boolean): string[][] => {
    parser ??= new Parser({ delimiter, newline: lineEnd(text) });
    const { data, errors, meta } = parser.parse(text, 0, !isLast) as {
      data: string[][];
      errors: { message: string; row: number; code: string }[];
      meta: { cursor: number };
    };
    text = isLast ? '' : text.slice(meta.cursor);
    // A quote may close in a later piece.
    const wrong = errors.find(({ code }) => isLast || code !== 'MissingQuotes');
    if (wrong !== undefined) throw new ValueError('source', 'a CSV file', described(file.name), `${wrong.message}.`);
    if (text.length > LONGEST_ROW) {
      const received = described(`${file.name}: is a quote not closed?`);
      throw new ValueError('source', `rows of at most ${LONGEST_ROW} characters`, received);
    }
    return data;
  };
  for await (const piece of unpackedPieces(file)) {
    text += decoded(piece);
    yield parse(false);
  }
  text += decoded();
  if (text !== '') yield parse(true);
}

const isEmptyLine = (record: readonly string[]): boolean => record.length === 1 && record[0]!.trim() === '';

function checkHeader(header: readonly string[], name: string): void {
  header.forEach((column, i) => {
    if (column === '')
      throw new ValueError('source', 'a name for each column', described(`none for column ${i + 1} of ${name}`));
    if (header.indexOf(column) !== i) {
      throw new ValueError('source', 'columns of different names', described(`two named ${column} in ${name}`));
    }
  });
}

const delimiterOf = ({ delimiter }: Format, name: string): string => {
  const isTabbed = /\.tsv(\.gz)?$/i.test(name.split(/[?#]/)[0]!);
  return delimiter ?? (isTabbed ? '\t' : ',');
};

/** Names of the columns; a mark of the byte order is not part of one, and they may be padded. */
function headerOf(record: readonly string[], { hasHeader }: Format, name: string): string[] {
  const names = hasHeader
    ? record.map((field, i) => (i === 0 ? field.replace(/^\uFEFF/, '') : field).trim())
    : record.map((_, i) => `column_${i}`);
  checkHeader(names, name);
  return names;
}

const WHOLE = /^[+-]?\d{1,9}$/;
const WHOLES = /^\d{1,9}([|;]\d{1,9})*$/;

/** The type that fits all cells; cells that are empty fit each. */
function typeOfCells(cells: readonly string[]): ColumnType {
  const held = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  if (held.length === 0) return 'string';
  if (held.every((cell) => WHOLE.test(cell))) return 'int';
  if (held.every((cell) => Number.isFinite(Number(cell)))) return 'float';
  if (held.every((cell) => WHOLES.test(cell))) return 'ids';
  return held.every((cell) => ISO_DATE.test(cell)) ? 'date' : 'string';
}

/** The columns of a file, with the types that its first rows fit. */
export async function csvColumns(file: DataFile, format: Format): Promise<Map<string, ColumnType>> {
  let names: string[] | null = null;
  const rows: string[][] = [];
  reading: for await (const records of recordsOf(file, delimiterOf(format, file.name))) {
    for (const record of records) {
      if (isEmptyLine(record)) continue;
      if (names === null) {
        names = headerOf(record, format, file.name);
        if (format.hasHeader) continue;
      }
      rows.push(record);
      if (rows.length === LOOKED_AT) break reading;
    }
  }
  if (names === null) throw noHeader(file.name);
  return new Map(names.map((name, i) => [name, typeOfCells(rows.map((row) => row[i] ?? ''))]));
}

const noHeader = (name: string): ValueError =>
  new ValueError('source', 'a CSV file with a header', described(`${name}, which is empty`));

/** The rows of one file, cut into chunks; only columns of the declaration are kept. */
async function* rowsOf(file: DataFile, { columns }: Declaration, format: Format): AsyncGenerator<RawChunk> {
  const { name } = file;
  let header: string[] | null = null;
  let places: (readonly [source: string, place: number])[] = [];
  let cells: string[][] = [];
  let [first, count] = [0, 0];
  const learnHeader = (names: string[]): void => {
    header = names;
    for (const spec of columns) checkFound(spec.source, `columns.${spec.name}`, names, name);
    places = [...new Set(columns.map(({ source }) => source))].map(
      (source) => [source, names.indexOf(source)] as const,
    );
    cells = places.map(() => []);
  };
  const taken = (): RawChunk => {
    const all = new Map<string, RawColumn>(
      places.map(([source], i) => [source, { values: cells[i]!, rowSplits: null, isText: true }]),
    );
    const chunk = { count, first, where: name, columns: all };
    cells = places.map(() => []);
    first += count;
    count = 0;
    return chunk;
  };
  for await (const records of recordsOf(file, delimiterOf(format, name))) {
    for (const record of records) {
      if (isEmptyLine(record) && (header === null || (header as string[]).length > 1)) continue;
      if (header === null) {
        learnHeader(headerOf(record, format, name));
        if (format.hasHeader) continue;
      }
      if (record.length !== header!.length) {
        const received = described(`${record.length} in row ${first + count + 1} of ${name}`);
        throw new ValueError('source', `${header!.length} fields in each row`, received);
      }
      for (let i = 0; i < places.length; i++) cells[i]!.push(record[places[i]![1]]!);
      count += 1;
      if (count === CHUNK_ROWS) yield taken();
    }
  }
  if (header === null) throw noHeader(name);
  if (count > 0) yield taken();
}

function checkText(value: unknown, argument: string): string {
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, 'a text', value);
  if (value.length === 0) throw new ValueError(argument, 'a text of at least one character', value);
  return value;
}

/** How files are written, as the caller says. */
export function readFormat({ delimiter, header }: Pick<CsvArgs, 'delimiter' | 'header'>): Format {
  return {
    delimiter: (delimiter ?? null) === null ? null : checkText(delimiter, 'delimiter'),
    hasHeader: checkBoolean(header, 'header', true),
  };
}

/**
 * Returns a data set of one or more CSV files, which are read again, piece by piece, in each reading.
 *
 * Cells of 'float' and 'int' columns are numbers, or `true` and `false`; those of 'ids' and lists are cut at any of
 * `|`, `;` and `,` (within brackets too), and numbers at spaces, unless the type names a separator. Empty cells are missing values,
 * empty lists in list columns, and texts in columns of strings. Files named `.gz` are unpacked. The number of rows is not
 * known beforehand.
 *
 * @param source - A path, which may be a pattern such as `logs/*.csv`; a URL; a File or Blob; bytes; or an array of these.
 * @param args - Types by name, label and weight; see `CsvArgs`.
 * @returns A `Dataset`.
 * @throws TypeError and ValueError for other arguments; while rows are read, ValueError, which names the row, for a file
 * that does not exist, is no CSV, lacks a column, or holds a value that does not fit. Source: pandas.read_csv,
 * tf.data.experimental.make_csv_dataset (TensorFlow 2.21).
 *
 * @example
 * const rows = emb.data.fromCsv('clicks.csv', {columns: {user: 'int', visits: 'ids'}, label: 'click'});
 */
export function fromCsv(source: DataSource | readonly DataSource[], args: CsvArgs): Dataset {
  checkSource(source);
  const given = readOptions<CsvArgs>(args, FIELDS, 'args');
  const declaration = readDeclaration(given, null);
  const format = readFormat(given);
  const { naValues = [''] } = given;
  if (!Array.isArray(naValues) || !naValues.every((each) => typeof each === 'string')) {
    throw new ArgumentTypeError('naValues', 'an array of texts', naValues);
  }
  const open = async function* (): AsyncGenerator<RawChunk> {
    for (const found of await findFiles(source)) {
      yield* rowsOf(await found.open(), declaration, format);
    }
  };
  return new Dataset({ source: { size: null, open }, declaration, naValues: new Set(naValues) });
}
