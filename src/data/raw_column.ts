/** Columns as files and arrays hold them, and their values as numbers or texts. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { rowOf as rowOfEntry } from '../ids/row_splits.js';
import { FLOAT32_WHOLE_MAX } from '../ids/whole_ids.js';
import { takenBy } from '../preprocessing/pipeline/missing_values.js';
import { listOf } from './cell_list.js';
import { isPreprocessor, type ColumnSpec, type DatePart } from './column_spec.js';

/** Values of some rows as they were read. */
export interface RawColumn {
  /** Numbers, texts, dates; null and undefined are missing ones. */
  readonly values: ArrayLike<unknown>;
  /** Where the rows of a list column lie; null: one value in each row. */
  readonly rowSplits: Int32Array | null;
  /** Whether values are cells of a file of text, which are read as numbers where these are wanted. */
  readonly isText: boolean;
}

/** Some rows as they were read. */
export interface RawChunk {
  readonly count: number;
  /** Number of the first row, from 0 on. */
  readonly first: number;
  /** Where they come from, for errors. */
  readonly where: string;
  /** By the names in the file. */
  readonly columns: ReadonlyMap<string, RawColumn>;
}

/** Values of one column and what is needed to say what is wrong with one. */
export interface Cells {
  readonly spec: ColumnSpec;
  readonly values: ArrayLike<unknown>;
  readonly rowSplits: Int32Array | null;
  readonly isText: boolean;
  /** Texts that stand for a missing value. */
  readonly naValues: ReadonlySet<string>;
  /** The row of the value at a place, in words. */
  rowOf(place: number): string;
  /** A row of these, in words. */
  wordsOf(row: number): string;
}

/** Values that were there, and which were not. */
export interface Known<T> {
  readonly values: T;
  /** 1 where a value is missing; null: none is. */
  readonly missing: Uint8Array | null;
}

function isListOfNumbers({ item }: ColumnSpec): boolean {
  if (!isPreprocessor(item)) return item !== 'string';
  const taken = takenBy(item);
  return taken === 'wholes' || taken === 'numbers';
}

/** A row number in words, as people count. */
const inWords = (row: number, where: string): string => `row ${row + 1} of ${where}`;

/** The values of a column of this chunk; cells of text are cut into lists where the column is one. */
export function cellsOf(spec: ColumnSpec, chunk: RawChunk, naValues: ReadonlySet<string>): Cells {
  const raw = chunk.columns.get(spec.source)!;
  let { values, rowSplits } = raw;
  if (rowSplits !== null && !spec.isList) {
    const note = `Write {list: …} or 'ids'.`;
    throw new ValueError(`columns.${spec.name}`, 'a column with one value per row', described('lists'), note);
  }
  if (spec.isList && rowSplits === null) {
    const splits = new Int32Array(chunk.count + 1);
    const parts: unknown[] = [];
    const isOfNumbers = isListOfNumbers(spec);
    for (let row = 0; row < chunk.count; row++) {
      const cell = values[row];
      if (raw.isText) {
        const list = naValues.has(cell as string) ? [] : listOf(cell as string, isOfNumbers, spec.separator);
        for (const part of list) parts.push(part);
      } else if (cell !== null && cell !== undefined) parts.push(cell);
      splits[row + 1] = parts.length;
    }
    values = parts;
    rowSplits = splits;
  }
  const splits = rowSplits;
  const wordsOf = (row: number): string => inWords(chunk.first + row, chunk.where);
  const rowOf = (place: number): string => wordsOf(splits === null ? place : rowOfEntry(splits, place));
  return { spec, values, rowSplits, isText: raw.isText, naValues, rowOf, wordsOf };
}

/** Marks values as missing. */
class Marks {
  marks: Uint8Array | null = null;

  constructor(readonly count: number) {}

  set(place: number): void {
    this.marks ??= new Uint8Array(this.count);
    this.marks[place] = 1;
  }
}

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};

function wrong(cells: Cells, place: number, expected: string, note?: string): Error {
  const { spec, values } = cells;
  const value = values[place];
  const isType = !cells.isText && typeof value !== 'number' && typeof value !== 'bigint';
  const received = described(`${shown(value)} in ${cells.rowOf(place)}`);
  const Wrong = isType ? ArgumentTypeError : ValueError;
  return new Wrong(`columns.${spec.name}`, expected, received, note);
}

/** A decimal number. */
export const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(inity)?$/i;

/** The value as a number; NaN where it is missing, undefined where it is none. */
function numberOf(value: unknown, cells: Cells): number | undefined {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return NaN;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (!cells.isText || typeof value !== 'string') return undefined;
  const text = value.trim();
  // Nothing else can be meant by an empty cell.
  if (text === '' || cells.naValues.has(text)) return NaN;
  if (NUMBER.test(text)) return Number(text);
  const word = text.toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true' ? 1 : 0;
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  return word === 'nan' ? NaN : undefined;
}

const LOOKUP_NOTE =
  'Texts become numbers by an object of emb.preprocessing, such as new emb.preprocessing.StringLookup().';

function noNumber(cells: Cells, place: number, expected: string): Error {
  return wrong(cells, place, expected, typeof cells.values[place] === 'string' ? LOOKUP_NOTE : undefined);
}

/** All values as numbers of double precision. */
export function numbersOf(cells: Cells): Known<Float64Array> {
  const { values } = cells;
  const count = values.length;
  const numbers = new Float64Array(count);
  const marks = new Marks(count);
  for (let i = 0; i < count; i++) {
    const number = numberOf(values[i], cells);
    if (number === undefined) throw noNumber(cells, i, 'numbers');
    if (Number.isNaN(number)) marks.set(i);
    else numbers[i] = number;
  }
  return { values: numbers, missing: marks.marks };
}

/** All values as exactly as they came: those of 64 bits stay such. */
export function exactNumbersOf(cells: Cells): Known<ArrayLike<unknown>> {
  const { values } = cells;
  if (values instanceof Int32Array || values instanceof BigInt64Array || values instanceof BigUint64Array) {
    return { values, missing: null };
  }
  if (values instanceof Float32Array) return floatsOf(cells);
  const isWide = (value: unknown): value is bigint => typeof value === 'bigint' && !Number.isSafeInteger(Number(value));
  if (!Array.isArray(values) || !values.some(isWide)) return numbersOf(cells);
  const { values: rounded, missing } = numbersOf(cells);
  const exact = Array.from(rounded, (number, i) => (isWide(values[i]) ? values[i] : number));
  const fits = exact.every((each) =>
    typeof each === 'number' ? Number.isSafeInteger(each) : BigInt.asIntN(64, each) === each,
  );
  return { values: fits ? BigInt64Array.from(exact, BigInt) : exact, missing };
}

/** All values as float32. */
export function floatsOf(cells: Cells): Known<Float32Array> {
  const { values } = cells;
  if (values instanceof Float32Array) {
    // A sum is NaN where a number is, which is quickly found.
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[i]!;
    if (!Number.isNaN(sum)) return { values, missing: null };
  }
  const known = numbersOf(cells);
  const floats = new Float32Array(known.values.length);
  for (let i = 0; i < floats.length; i++) {
    const number = known.values[i]!;
    floats[i] = number;
    if (Number.isFinite(number) && !Number.isFinite(floats[i]!)) throw wrong(cells, i, 'numbers of float32');
  }
  return { values: floats, missing: known.missing };
}

const FLOAT32_WHOLES = 'whole numbers below 2^24 in magnitude in float32';
const INT_NOTE = 'Larger ids become rows of a table by emb.preprocessing.IntegerLookup or Hashing.';

/** All values as int32. */
export function intsOf(cells: Cells): Known<Int32Array> {
  const { values } = cells;
  if (values instanceof Int32Array) return { values, missing: null };
  const count = values.length;
  const ints = new Int32Array(count);
  if (values instanceof BigInt64Array) {
    const words = new Int32Array(values.buffer, values.byteOffset, 2 * count);
    for (let i = 0; i < count; i++) {
      const low = words[2 * i]!;
      if (words[2 * i + 1]! !== low >> 31) throw wrong(cells, i, 'whole numbers of int32', INT_NOTE);
      ints[i] = low;
    }
    return { values: ints, missing: null };
  }
  const isFloat32 = values instanceof Float32Array;
  const marks = new Marks(count);
  for (let i = 0; i < count; i++) {
    const number = numberOf(values[i], cells);
    if (number === undefined) throw noNumber(cells, i, 'whole numbers');
    if (Number.isNaN(number)) marks.set(i);
    else if (!Number.isInteger(number)) throw wrong(cells, i, 'whole numbers');
    else if (isFloat32 && Math.abs(number) > FLOAT32_WHOLE_MAX) throw wrong(cells, i, FLOAT32_WHOLES);
    else if (number !== (number | 0)) throw wrong(cells, i, 'whole numbers of int32', INT_NOTE);
    else ints[i] = number;
  }
  return { values: ints, missing: marks.marks };
}

/** All values as texts; a cell of text is missing only where the column says what to read it as. */
export function stringsOf(cells: Cells): Known<readonly string[]> {
  const { values, spec, naValues } = cells;
  const count = values.length;
  const mayMiss = spec.missing !== 'error' && cells.isText;
  const strings = new Array<string>(count);
  const marks = new Marks(count);
  for (let i = 0; i < count; i++) {
    const value = values[i];
    strings[i] = '';
    if (value === null || value === undefined || (mayMiss && naValues.has(value as string))) marks.set(i);
    else if (typeof value === 'string') strings[i] = value;
    else throw wrong(cells, i, 'texts', 'Numbers are looked up by emb.preprocessing.IntegerLookup.');
  }
  return { values: strings, missing: marks.marks };
}

const DAY = 86_400_000;
const ISO_DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?)?\s*(?:Z|([+-])(\d\d):?(\d\d))?$/;

/** Milliseconds since 1970 of a date, UTC where it says nothing else; undefined: there is no such day or time. */
export function timeOfText(text: string): number | undefined {
  const match = ISO_DATE.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part: string | undefined) => Number(part ?? 0));
  const [fraction = '', sign, zoneHours = '0', zoneMinutes = '0'] = match.slice(7);
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day);
  const isDay = date.getUTCMonth() === month! - 1 && date.getUTCDate() === day;
  const zone = Number(zoneHours) * 60 + Number(zoneMinutes);
  if (!isDay || hour! > 23 || minute! > 59 || second! > 59 || zone >= 24 * 60 || Number(zoneMinutes) > 59)
    return undefined;
  const minutes = hour! * 60 + minute! - (sign === '-' ? -zone : zone);
  return date.getTime() + minutes * 60_000 + second! * 1000 + Number(fraction.slice(1, 4).padEnd(3, '0'));
}

/** Milliseconds since 1970; NaN where it is missing, undefined where it is none. */
function timeOf(value: unknown, cells: Cells): number | undefined {
  if (value === null || value === undefined) return NaN;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.getTime();
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (cells.isText && (text === '' || cells.naValues.has(text))) return NaN;
  return timeOfText(text);
}

function partOf(time: number, part: DatePart): number {
  const days = time / DAY;
  if (part === 'days') return days;
  if (part === 'hour') return new Date(time).getUTCHours();
  // 1970 began on a Thursday.
  if (part === 'weekday') return (((Math.floor(days) + 3) % 7) + 7) % 7;
  return new Date(time).getUTCMonth() + 1;
}

/** A part of all dates: days as float32, all else as int32. */
export function datesOf(cells: Cells): Known<Float32Array | Int32Array> {
  const { values, spec } = cells;
  const count = values.length;
  const parts = spec.part === 'days' ? new Float32Array(count) : new Int32Array(count);
  const marks = new Marks(count);
  for (let i = 0; i < count; i++) {
    const time = timeOf(values[i], cells);
    if (time === undefined) throw wrong(cells, i, 'dates such as 2024-05-31 or 2024-05-31T08:00:00Z');
    if (Number.isNaN(time)) marks.set(i);
    else parts[i] = partOf(time, spec.part);
  }
  return { values: parts, missing: marks.marks };
}

/** The error for a value that is missing. */
export function missingError(cells: Cells, place: number): ValueError {
  const { name } = cells.spec;
  const note = `Say what it is read as: columns: {${name}: {type: …, missing: 0}}, or missing: 'mask'.`;
  return new ValueError(`columns.${name}`, 'no missing value', described(`one in ${cells.rowOf(place)}`), note);
}
