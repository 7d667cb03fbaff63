/** Data sets of CSV files, whose text is read a piece at a time. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
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
import { CsvRecords } from './csv_records.js';
import { checkSource, findFiles, unpackedPieces, type DataFile, type DataSource } from './data_file.js';
import { Dataset } from './dataset.js';
import { NUMBER, timeOfText, type RawChunk, type RawColumn } from './raw_column.js';

/** Options of `fromCsv`. */
export interface CsvArgs extends DeclarationArgs {
  /** What parts the fields of a line; ',' by default, a tab for files named `.tsv`. */
  delimiter?: string | undefined;
  /** Whether the first line names the columns; without one they are named column_0, column_1 and so on. */
  header?: boolean | undefined;
  /** Texts that stand for a missing value; the empty one by default, which in columns of numbers and dates always does. */
  naValues?: readonly string[] | undefined;
  /** The encoding of the text, by a name that TextDecoder knows, such as 'latin1' or 'utf-16le'; 'utf-8' by default. */
  encoding?: string | undefined;
  /** Whether fields that hold delimiters, ends of lines or quotes are in quotes; false: quotes are characters like others. */
  quote?: boolean | undefined;
}

/** Options that say how files are laid out. */
export type CsvFormatArgs = Pick<CsvArgs, 'delimiter' | 'header' | 'encoding' | 'quote'>;

export const FORMAT_FIELDS = ['delimiter', 'header', 'encoding', 'quote'] as const;
const FIELDS = [...DECLARATION_FIELDS, ...FORMAT_FIELDS, 'naValues'] as const;
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
  readonly encoding: string;
  readonly hasQuotes: boolean;
}

/** The lines of a file as lists of fields, some at a time. */
async function* recordsOf(file: DataFile, { delimiter, hasQuotes, encoding }: Format): AsyncGenerator<string[][]> {
  const records = new CsvRecords({ delimiter: delimiter ?? delimiterOf(file.name), hasQuotes });
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decoded = (piece?: Uint8Array): string => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch {
      const note = 'Say which encoding the text has: encoding: …';
      const received = described(`${file.name}, which holds other bytes`);
      throw new ValueError('source', `text in ${encoding.toUpperCase()}`, received, note);
    }
  };
  const taken = (text: string, isLast: boolean): string[][] => {
    try {
      return records.take(text, isLast);
    } catch (error) {
      const note = `${(error as Error).message} Files whose quotes are characters like others are read by quote: false.`;
      throw new ValueError('source', 'a CSV file', described(file.name), note);
    }
  };
  for await (const piece of unpackedPieces(file)) {
    yield taken(decoded(piece), false);
    if (records.waiting <= LONGEST_ROW) continue;
    const received = described(`${file.name}: is a quote not closed?`);
    throw new ValueError('source', `rows of at most ${LONGEST_ROW} characters`, received);
  }
  yield taken(decoded(), true);
}

const isEmptyLine = (record: readonly string[]): boolean => record.length === 1 && record[0]!.trim() === '';

const delimiterOf = (name: string): string => (/\.tsv(\.gz)?$/i.test(name.split(/[?#]/)[0]!) ? '\t' : ',');

/** The columns of a file by their names: where each lies, null where two have one name. Names may be padded. */
function headerOf(record: readonly string[], { hasHeader }: Format): Map<string, number | null> {
  const places = new Map<string, number | null>();
  record.forEach((field, i) => {
    const name = hasHeader ? field.trim() : `column_${i}`;
    // pandas writes its index without a name.
    if (name !== '') places.set(name, places.has(name) ? null : i);
  });
  return places;
}

const WHOLE = /^[+-]?\d+$/;
const WHOLES = /^\d+([|;]\d+)*$/;

/** The type that fits all cells; cells that are empty fit each. */
function typeOfCells(cells: readonly string[]): ColumnType {
  const held = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  if (held.length === 0) return 'string';
  if (held.every((cell) => WHOLE.test(cell))) return 'int';
  if (held.every((cell) => NUMBER.test(cell))) return 'float';
  if (held.every((cell) => WHOLES.test(cell))) return 'ids';
  return held.every((cell) => timeOfText(cell) !== undefined) ? 'date' : 'string';
}

/** The columns of a file that a name tells from others, with the types that its first rows fit. */
export async function csvColumns(file: DataFile, format: Format): Promise<Map<string, ColumnType>> {
  let names: Map<string, number | null> | null = null;
  const rows: string[][] = [];
  reading: for await (const records of recordsOf(file, format)) {
    for (const record of records) {
      if (isEmptyLine(record)) continue;
      if (names === null) {
        names = headerOf(record, format);
        if (format.hasHeader) continue;
      }
      rows.push(record);
      if (rows.length === LOOKED_AT) break reading;
    }
  }
  if (names === null) throw noHeader(file.name);
  const known = [...names].filter((entry): entry is [string, number] => entry[1] !== null);
  const [twice] = [...names].find(([, place]) => place === null) ?? [];
  if (known.length === 0 && twice !== undefined) throw repeatedName(twice, file.name);
  return new Map(known.map(([name, place]) => [name, typeOfCells(rows.map((row) => row[place] ?? ''))]));
}

const repeatedName = (name: string, file: string): ValueError =>
  new ValueError('source', 'columns of different names', described(`two named ${name} in ${file}`));

const noHeader = (name: string): ValueError =>
  new ValueError('source', 'a CSV file with a header', described(`${name}, which is empty`));

/** The rows of one file, cut into chunks; only columns of the declaration are kept. */
async function* rowsOf(file: DataFile, { columns }: Declaration, format: Format): AsyncGenerator<RawChunk> {
  const { name } = file;
  /** Fields of each line. */
  let width: number | null = null;
  let places: (readonly [source: string, place: number])[] = [];
  let cells: string[][] = [];
  let [first, count] = [0, 0];
  const learnHeader = (record: readonly string[]): void => {
    width = record.length;
    const names = headerOf(record, format);
    const found = new Map<string, number>();
    for (const spec of columns) {
      const place = names.get(spec.source);
      checkFound(spec.source, `columns.${spec.name}`, names, name);
      if (typeof place === 'number') found.set(spec.source, place);
      else throw repeatedName(spec.source, name);
    }
    places = [...found];
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
  for await (const records of recordsOf(file, format)) {
    for (const record of records) {
      if (isEmptyLine(record) && width !== 1) continue;
      if (width === null) {
        learnHeader(record);
        if (format.hasHeader) continue;
      }
      if (record.length !== width) {
        const received = described(`${record.length} in row ${first + count + 1} of ${name}`);
        throw new ValueError('source', `${width} fields in each row`, received);
      }
      for (let i = 0; i < places.length; i++) cells[i]!.push(record[places[i]![1]]!);
      count += 1;
      if (count === CHUNK_ROWS) yield taken();
    }
  }
  if (width === null) throw noHeader(name);
  yield taken();
}

function checkText(value: unknown, argument: string): string {
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, 'a text', value);
  if (value.length === 0) throw new ValueError(argument, 'a text of at least one character', value);
  return value;
}

function checkEncoding(value: unknown): string {
  const encoding = checkText(value ?? 'utf-8', 'encoding');
  try {
    return new TextDecoder(encoding).encoding;
  } catch {
    throw new ValueError('encoding', 'an encoding that TextDecoder knows, such as utf-8 or latin1', encoding);
  }
}

/** How files are written, as the caller says. */
export function readFormat({ delimiter, header, encoding, quote }: CsvFormatArgs): Format {
  const parting = (delimiter ?? null) === null ? null : checkText(delimiter, 'delimiter');
  if (parting !== null && /[\r\n"]/.test(parting)) {
    throw new ValueError('delimiter', 'characters other than quotes and ends of lines', delimiter);
  }
  return {
    delimiter: parting,
    hasHeader: checkBoolean(header, 'header', true),
    encoding: checkEncoding(encoding),
    hasQuotes: checkBoolean(quote, 'quote', true),
  };
}

/**
 * Returns a data set of one or more CSV files, which are read again, piece by piece, in each reading.
 *
 * Cells of 'float' and 'int' columns are decimal numbers, or `true` and `false`. In list columns a cell that is wholly a
 * list of JSON or Python is read as such; any other is cut at the separator of the type, by default at any of `|`, `;` and
 * `,`, and numbers at spaces too. Empty cells are missing values, empty lists in list columns, and texts in columns of
 * strings. Columns without a name, and those that share one, may be there but cannot be read. Lines end with \\n, \\r or
 * both. Files named `.gz` are unpacked. The number of rows is not known beforehand.
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
