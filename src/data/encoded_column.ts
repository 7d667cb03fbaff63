/** Columns as they were read, turned into what batches are made of. */
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { splitsOfLengths } from '../ids/row_splits.js';
import { CategoryEncoding } from '../preprocessing/category_encoding.js';
import { Discretization } from '../preprocessing/discretization.js';
import { IntegerLookup } from '../preprocessing/integer_lookup.js';
import { Normalization } from '../preprocessing/normalization.js';
import { TextVectorization } from '../preprocessing/text_vectorization.js';
import type { Chunk, Column, ColumnValues } from './chunk.js';
import { isPreprocessor, maskName, type ColumnSpec, type Declaration, type Preprocessor } from './column_spec.js';
import {
  cellsOf,
  datesOf,
  floatsOf,
  intsOf,
  missingError,
  numbersOf,
  stringsOf,
  type Cells,
  type Known,
  type RawChunk,
} from './raw_column.js';

type Numbers = Float32Array | Int32Array;

/** Those whose values are numbers, also where a file holds texts. */
const OF_NUMBERS = [IntegerLookup, Discretization, CategoryEncoding, Normalization];

/** What a preprocessor is given, with a value in the place of a missing one. */
export function preprocessorCells(cells: Cells): Known<ArrayLike<unknown>> {
  const { spec } = cells;
  const isOfNumbers = OF_NUMBERS.some((each) => spec.item instanceof each);
  return filled<ArrayLike<unknown>>(cells, isOfNumbers ? numbersOf(cells) : rawOf(cells));
}

/** Texts, or numbers as the file has them. */
function rawOf(cells: Cells): Known<ArrayLike<unknown>> {
  let place = 0;
  while (place < cells.values.length && (cells.values[place] ?? null) === null) place++;
  const first = cells.values[place];
  return typeof first === 'number' || typeof first === 'bigint' ? numbersOf(cells) : stringsOf(cells);
}

/** Puts the value that the column names in the place of missing ones; throws where it names none. */
function filled<T extends ArrayLike<unknown>>(cells: Cells, known: Known<T>): Known<T> {
  const { missing } = known;
  const { missing: value } = cells.spec;
  if (missing === null || value === 'mask') return known;
  const values = ArrayBuffer.isView(known.values)
    ? (known.values as unknown as Numbers).slice()
    : Array.from(known.values);
  for (let i = 0; i < missing.length; i++) {
    if (missing[i] === 0) continue;
    if (value === 'error') throw missingError(cells, i);
    (values as unknown[])[i] = value;
  }
  return { values: values as unknown as T, missing: null };
}

/** Values that were there, `width` for each of them; rows of their own where an object makes rows of values. */
interface Encoded extends Known<ColumnValues> {
  readonly width: number;
  readonly rowSplits: Int32Array | null;
}

/** Rows of numbers, all of one length or, ragged, of any. */
function rowsOf(rows: readonly (readonly number[])[], isRagged: boolean, isFloat: boolean): Omit<Encoded, 'missing'> {
  const values = isFloat ? Float32Array.from(rows.flat()) : Int32Array.from(rows.flat());
  if (!isRagged) return { values, width: rows[0]?.length ?? 1, rowSplits: null };
  return { values, width: 0, rowSplits: splitsOfLengths(rows.map(({ length }) => length)) };
}

/** What a preprocessor makes of the values: a number for each, a vector for each, or rows of numbers. */
function applied(preprocessor: Preprocessor, cells: Cells): Encoded {
  const { values, missing } = preprocessorCells(cells);
  const { name } = cells.spec;
  const isText = preprocessor instanceof TextVectorization && preprocessor.outputMode === 'int';
  if (isText && !preprocessor.ragged && preprocessor.outputSequenceLength === null) {
    const expected = 'a TextVectorization with ragged: true or outputSequenceLength';
    throw new ValueError(`columns.${name}`, expected, described('one that pads as the batch needs'));
  }
  const result = preprocessor.apply(values as never);
  if (result instanceof Int32Array || result instanceof Float32Array) {
    return { values: result, width: 1, rowSplits: null, missing };
  }
  const list: unknown = result;
  if (Array.isArray(list) && list.every((each) => typeof each === 'number')) {
    return { values: Int32Array.from(list), width: 1, rowSplits: null, missing };
  }
  if (Array.isArray(list) && list.every((each) => Array.isArray(each))) {
    return { ...rowsOf(list as number[][], isText && preprocessor.ragged, !isText), missing };
  }
  throw new RuntimeError(`columns.${name}`, 'an object of emb.preprocessing that gives numbers', result);
}

function valuesOf(cells: Cells): Encoded {
  const { item } = cells.spec;
  if (isPreprocessor(item)) return applied(item, cells);
  const read: Record<'float' | 'int' | 'string' | 'date', (cells: Cells) => Known<ColumnValues>> = {
    float: floatsOf,
    int: intsOf,
    string: stringsOf,
    date: datesOf,
  };
  return { ...filled<ColumnValues>(cells, read[item](cells)), width: 1, rowSplits: null };
}

/** Leaves missing values out of their rows. */
function withoutMissing(values: ColumnValues, rowSplits: Int32Array, missing: Uint8Array): [ColumnValues, Int32Array] {
  const kept = (values as Numbers).filter((_, i) => missing[i] === 0);
  const splits = new Int32Array(rowSplits.length);
  let left = 0;
  for (let row = 0, place = 0; row + 1 < rowSplits.length; row++) {
    for (; place < rowSplits[row + 1]!; place++) if (missing[place] === 0) left += 1;
    splits[row + 1] = left;
  }
  return [kept, splits];
}

function ofLength(cells: Cells, rowSplits: Int32Array, length: number): void {
  for (let row = 0; row + 1 < rowSplits.length; row++) {
    const count = rowSplits[row + 1]! - rowSplits[row]!;
    if (count === length) continue;
    const where = count > 0 ? cells.rowOf(rowSplits[row]!) : `row ${row + 1} of those read`;
    throw new ValueError(`columns.${cells.spec.name}`, `lists of ${length} values`, described(`${count} in ${where}`));
  }
}

function encoded(cells: Cells): [name: string, column: Column][] {
  const { spec } = cells;
  const { values, missing, width, rowSplits: own } = valuesOf(cells);
  const { rowSplits } = cells;
  if (rowSplits === null) {
    const column: [string, Column] = [spec.name, { values, width, rowSplits: own }];
    if (spec.missing !== 'mask') return [column];
    const mask = Float32Array.from({ length: cells.values.length }, (_, i) => 1 - (missing?.[i] ?? 0));
    return [column, [maskName(spec.name), { values: mask, width: 1, rowSplits: null }]];
  }
  if (width !== 1) {
    throw new ValueError(`columns.${spec.name}`, 'an object that gives one number for each', described('vectors'));
  }
  if (spec.length !== null) {
    ofLength(cells, rowSplits, spec.length);
    return [[spec.name, { values, width: spec.length, rowSplits: null }]];
  }
  const [kept, splits] = missing === null ? [values, rowSplits] : withoutMissing(values, rowSplits, missing);
  return [[spec.name, { values: kept, width: 0, rowSplits: splits }]];
}

/** The columns of a declaration, by their names in it. */
export function encodeChunk(
  raw: RawChunk,
  { columns }: Pick<Declaration, 'columns'>,
  naValues: ReadonlySet<string>,
): Chunk {
  const all = columns.flatMap((spec: ColumnSpec) => encoded(cellsOf(spec, raw, naValues)));
  return { count: raw.count, columns: new Map(all) };
}
