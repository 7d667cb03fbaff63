/** Columns as they were read, turned into what batches are made of. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { Discretization, IntegerLookup } from '../preprocessing/index.js';
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
const OF_NUMBERS = [IntegerLookup, Discretization];

/** What a preprocessor is given, with a value in the place of a missing one. */
export function preprocessorCells(cells: Cells): Known<ArrayLike<unknown>> {
  const { spec } = cells;
  const isOfNumbers = OF_NUMBERS.some((each) => spec.item instanceof each);
  return filled<ArrayLike<unknown>>(cells, isOfNumbers ? numbersOf(cells) : rawOf(cells));
}

/** Texts, or numbers as the file has them. */
function rawOf(cells: Cells): Known<ArrayLike<unknown>> {
  const first = Array.from(cells.values).find((value) => value !== null && value !== undefined);
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

/** Values of a fixed number in each row. */
interface Encoded {
  readonly values: ColumnValues;
  readonly width: number;
}

/** What a preprocessor gives for `count` values, in any of its containers. */
function encodedOf(result: unknown, count: number, name: string): Encoded {
  if (result instanceof tf.Tensor) {
    const values = result.dataSync() as Numbers;
    result.dispose();
    return { values, width: count === 0 ? 1 : values.length / count };
  }
  if (result instanceof Int32Array || result instanceof Float32Array) {
    return { values: result, width: count === 0 ? 1 : result.length / count };
  }
  if (Array.isArray(result) && result.every((each) => typeof each === 'number')) {
    const isWhole = (result as number[]).every(Number.isInteger);
    return { values: isWhole ? Int32Array.from(result as number[]) : Float32Array.from(result as number[]), width: 1 };
  }
  throw new RuntimeError(
    `columns.${name}`,
    'an object of emb.preprocessing that gives a number for each value',
    result,
  );
}

function applied(preprocessor: Preprocessor, cells: Cells): Known<ColumnValues> & { width: number } {
  const known = preprocessorCells(cells);
  const { name } = cells.spec;
  const result = preprocessor.apply(known.values as never);
  if (result instanceof RaggedTensor) {
    throw new ValueError(`columns.${name}`, 'an object that gives one value for each', described('a RaggedTensor'));
  }
  return { ...encodedOf(result, known.values.length, name), missing: known.missing };
}

function valuesOf(cells: Cells): Known<ColumnValues> & { width: number } {
  const { item } = cells.spec;
  if (isPreprocessor(item)) return applied(item, cells);
  const read: Record<'float' | 'int' | 'string' | 'date', (cells: Cells) => Known<ColumnValues>> = {
    float: floatsOf,
    int: intsOf,
    string: stringsOf,
    date: datesOf,
  };
  return { ...filled<ColumnValues>(cells, read[item](cells)), width: 1 };
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
  const { values, missing, width } = valuesOf(cells);
  const { rowSplits } = cells;
  if (rowSplits === null) {
    const column: [string, Column] = [spec.name, { values, width, rowSplits }];
    if (spec.missing !== 'mask') return [column];
    const mask = Float32Array.from({ length: cells.values.length }, (_, i) => 1 - (missing?.[i] ?? 0));
    return [column, [maskName(spec.name), { values: mask, width: 1, rowSplits: null }]];
  }
  if (width !== 1) {
    throw new ValueError(`columns.${spec.name}`, 'an object that gives one number for each', described(`${width}`));
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
