/** Columns as they were read, turned into what batches are made of. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import type { RaggedTensor } from '../ids/ragged_tensor.js';
import type { Cells as PreprocessingCells } from '../preprocessing/cells/cells.js';
import { classOf, columnContainer, columnForm, CLASSES } from '../preprocessing/pipeline/column_form.js';
import {
  maskName,
  maskOf,
  presentSplits,
  presentValues,
  spreadRows,
  spreadSplits,
  takenBy,
} from '../preprocessing/pipeline/missing_values.js';
import { TextVectorization } from '../preprocessing/text_vectorization.js';
import type { Chunk, Column, ColumnValues } from './chunk.js';
import { isPreprocessor, type ColumnSpec, type Declaration, type Preprocessor } from './column_spec.js';
import {
  cellsOf,
  datesOf,
  exactNumbersOf,
  floatsOf,
  intsOf,
  missingError,
  stringsOf,
  type Cells,
  type Known,
  type RawChunk,
} from './raw_column.js';

/** An object of `emb.preprocessing`, by what a column asks of it. */
interface OwnObject extends Preprocessor {
  applyCells(cells: PreprocessingCells): unknown;
}

/** Whether an object is one of `emb.preprocessing` as it is, no class of the caller's with an `apply` of its own. */
export function isOwn(item: Preprocessor): item is OwnObject {
  const name = classOf(item);
  return name !== null && (item.apply as unknown) === CLASSES[name].prototype.apply;
}

/** Values of a column, and where each lies. */
interface Values {
  readonly values: ArrayLike<unknown>;
  readonly rowSplits: Int32Array | null;
  /** Rows without a value, which `values` leave out; null: none. */
  readonly missing: Uint8Array | null;
  /** By the place of a value among `values`: its place among all. */
  placeOf(position: number): number;
}

/** Texts, or numbers as the file has them. */
function rawOf(cells: Cells): Known<ArrayLike<unknown>> {
  let place = 0;
  while (place < cells.values.length && (cells.values[place] ?? null) === null) place++;
  const first = cells.values[place];
  return typeof first === 'number' || typeof first === 'bigint' ? exactNumbersOf(cells) : stringsOf(cells);
}

/** What a preprocessor is given: values that are there, or those that the column names for missing ones. */
function valuesFor(item: Preprocessor, cells: Cells): Values {
  const taken = takenBy(item);
  const read = taken === 'texts' ? stringsOf : taken === 'either' ? rawOf : exactNumbersOf;
  const { values, missing } = filled<ArrayLike<unknown>>(cells, read(cells));
  const { rowSplits } = cells;
  if (missing === null) return { values, rowSplits, missing, placeOf: (position) => position };
  const there = Array.from(missing.keys()).filter((place) => missing[place] === 0);
  return {
    values: presentValues(values, missing),
    rowSplits: rowSplits === null ? null : presentSplits(rowSplits, missing),
    missing: rowSplits === null ? missing : null,
    placeOf: (position) => there[position]!,
  };
}

/** The value that the column names in the place of missing ones; throws where it names none. */
function filled<T extends ArrayLike<unknown>>(cells: Cells, known: Known<T>): Known<T> {
  const { missing } = known;
  const { missing: value } = cells.spec;
  if (missing === null || value === 'mask') return known;
  const isWide = known.values instanceof BigInt64Array;
  const isTyped =
    ArrayBuffer.isView(known.values) && (isWide ? Number.isSafeInteger(value) : typeof value === 'number');
  // Numbers of 64 bits stay such, as in an array of all kinds they would be refused.
  const values = isTyped ? (known.values as unknown as Float32Array).slice() : Array.from(known.values);
  const stands = isTyped && isWide ? BigInt(value) : value;
  for (let i = 0; i < missing.length; i++) {
    if (missing[i] === 0) continue;
    if (value === 'error') throw missingError(cells, i);
    (values as unknown[])[i] = stands;
  }
  return { values: values as unknown as T, missing: null };
}

/** The values of a column that an object learns from, by its name, and which rows have one, by that of its mask. */
export function learnedColumns(cells: Cells): [name: string, column: Column][] {
  const { spec } = cells;
  const { values, rowSplits, missing } = valuesFor(spec.item as Preprocessor, cells);
  const known = values as ColumnValues;
  if (rowSplits !== null && spec.length === null) return [[spec.name, { values: known, width: 0, rowSplits }]];
  if (rowSplits !== null) ofLength(cells, rowSplits, spec.length!);
  const all = missing === null ? known : spreadRows(known, 1, missing);
  const column = { values: all, width: spec.length ?? 1, rowSplits: null };
  if (spec.missing !== 'mask') return [[spec.name, column]];
  const mask = { values: maskOf(cells.values.length, missing), width: 1, rowSplits: null };
  return [
    [spec.name, column],
    [maskName(spec.name), mask],
  ];
}

/** Such a column of some rows as an object takes it; null: there are no values. */
export function learnedCells(spec: ColumnSpec, columns: Chunk['columns']): PreprocessingCells | null {
  const { values: all, width, rowSplits } = columns.get(spec.name)!;
  const mask = columns.get(maskName(spec.name))?.values as Float32Array | undefined;
  const hasMask = spec.missing === 'mask' && !spec.isList;
  const values = hasMask
    ? presentValues(
        all,
        Uint8Array.from(mask!, (each) => 1 - each),
      )
    : all;
  return values.length === 0 ? null : cellsFor(values, rowSplits === null ? width : null, rowSplits);
}

function cellsFor(
  values: ArrayLike<unknown>,
  length: number | null,
  rowSplits: Int32Array | null,
  places?: PreprocessingCells['places'],
): PreprocessingCells {
  const container = columnContainer(values.length, length, rowSplits);
  return { flat: values, count: values.length, isFloat32: values instanceof Float32Array, container, places };
}

/** What is made of a column: `width` numbers for each row, or rows of any length. */
interface Encoded {
  readonly values: ColumnValues;
  readonly width: number;
  readonly rowSplits: Int32Array | null;
  /** Rows that had no value; null: none. */
  readonly missing: Uint8Array | null;
}

/** What one of our objects makes of a column. */
function applied(item: OwnObject, cells: Cells): Encoded {
  const { spec } = cells;
  const path = `columns.${spec.name}`;
  const isPadded = item instanceof TextVectorization && item.outputMode === 'int';
  if (isPadded && !item.ragged && item.outputSequenceLength === null) {
    const expected = 'a TextVectorization with ragged: true or outputSequenceLength';
    throw new ValueError(path, expected, described('one that pads as the batch needs'));
  }
  const { values, rowSplits, missing, placeOf } = valuesFor(item, cells);
  const length = spec.isList ? spec.length : 1;
  if (rowSplits !== null && length !== null) ofLength(cells, rowSplits, length);
  const places = { argument: path, at: (position: number) => `in ${cells.rowOf(placeOf(position))}` };
  const result = item.applyCells(cellsFor(values, length, rowSplits, places));
  const made = madeOf(result);
  // Texts of no value say no more that they are some.
  const isText = columnForm(item, length, path).dtype === 'string';
  const all = isText && made.values.length === 0 ? [] : made.values;
  if (missing === null) return { ...made, values: all, missing };
  if (made.rowSplits !== null) return { ...made, rowSplits: spreadSplits(made.rowSplits, missing), missing };
  return { ...made, values: spreadRows(all, made.width, missing), missing };
}

/** Results of our objects as values and splits. */
function madeOf(result: unknown): Omit<Encoded, 'missing'> {
  if (result instanceof tf.Tensor) {
    const values = result.dataSync() as unknown as ColumnValues;
    const width = result.shape[1]!;
    result.dispose();
    return { values, width, rowSplits: null };
  }
  // Ragged rows, of texts too.
  const { values, rowSplits } = result as RaggedTensor;
  return { values, width: 0, rowSplits };
}

/** What an object of the caller's makes of values: a number for each, or a vector for each. */
function appliedOther(item: Preprocessor, cells: Cells): Encoded {
  const { values, rowSplits, missing } = valuesFor(item, cells);
  const path = `columns.${cells.spec.name}`;
  const result: unknown = item.apply(values as never);
  const isTyped = result instanceof Int32Array || result instanceof Float32Array;
  const list = isTyped ? Array.from(result) : result;
  const isList = Array.isArray(list) && list.length === values.length;
  const { width: declared = null } = item as { width?: number | null };
  const made = (rows: number[], width: number): Encoded => {
    const isFloat = result instanceof Float32Array || declared !== null;
    if (!isFloat && rows.some((each) => each !== (each | 0))) {
      throw new RuntimeError(path, 'whole numbers of int32, or vectors of `width`', result);
    }
    const all = isFloat ? Float32Array.from(rows) : Int32Array.from(rows);
    const spread = missing === null ? all : spreadRows(all, width, missing);
    if (rowSplits === null) return { values: spread, width, rowSplits, missing };
    if (width !== 1) throw new ValueError(path, 'an object that gives one number for each', described('vectors'));
    const { length } = cells.spec;
    if (length !== null) ofLength(cells, rowSplits, length);
    return { values: all, width: length ?? 0, rowSplits: length === null ? rowSplits : null, missing: null };
  };
  if (isList && list.every((each) => typeof each === 'number')) return made(list, 1);
  const width = declared ?? (list as unknown[][] | undefined)?.[0]?.length ?? 0;
  const isRows = isList && list.every((each) => Array.isArray(each) && each.length === width);
  if (isRows && width > 0) return made((list as number[][]).flat(), width);
  throw new RuntimeError(path, 'an object of emb.preprocessing that gives numbers', result);
}

/** What is made of a column by its type, or by an object. */
function valuesOf(cells: Cells): Encoded {
  const { item, length } = cells.spec;
  if (isPreprocessor(item)) return isOwn(item) ? applied(item, cells) : appliedOther(item, cells);
  const read: Record<'float' | 'int' | 'string' | 'date', (cells: Cells) => Known<ColumnValues>> = {
    float: floatsOf,
    int: intsOf,
    string: stringsOf,
    date: datesOf,
  };
  const { values, missing } = filled<ColumnValues>(cells, read[item](cells));
  const { rowSplits } = cells;
  if (rowSplits === null) return { values, width: 1, rowSplits, missing };
  if (length !== null) {
    ofLength(cells, rowSplits, length);
    return { values, width: length, rowSplits: null, missing: null };
  }
  if (missing === null) return { values, width: 0, rowSplits, missing };
  return {
    values: presentValues(values, missing),
    width: 0,
    rowSplits: presentSplits(rowSplits, missing),
    missing: null,
  };
}

function ofLength(cells: Cells, rowSplits: Int32Array, length: number): void {
  for (let row = 0; row + 1 < rowSplits.length; row++) {
    const count = rowSplits[row + 1]! - rowSplits[row]!;
    if (count === length) continue;
    throw new ValueError(
      `columns.${cells.spec.name}`,
      `lists of ${length} values`,
      described(`${count} in ${cells.wordsOf(row)}`),
    );
  }
}

function encoded(cells: Cells): [name: string, column: Column][] {
  const { spec } = cells;
  const { values, missing, width, rowSplits } = valuesOf(cells);
  const column: [string, Column] = [spec.name, { values, width, rowSplits }];
  if (spec.missing !== 'mask' || spec.isList) return [column];
  const mask = maskOf(cells.values.length, missing);
  return [column, [maskName(spec.name), { values: mask, width: 1, rowSplits: null }]];
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
