/** Batches of several columns: columns by name, or rows as objects. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { readCells, type Cells } from '../cells/cells.js';
import { rankOf, shapeOf } from '../cells/written_cells.js';
import { rowOf } from '../../ids/row_splits.js';
import { columnContainer } from './column_form.js';
import type { ColumnStep } from './column_steps.js';
import { presentSplits, presentValues } from './missing_values.js';

/** Values of one column, by row: strings, numbers, columns as files hold them, rows of them, tensors. */
export type ColumnValues = unknown;
/** Columns by name, or rows as objects. */
export type ColumnBatch = Readonly<Record<string, ColumnValues>> | readonly Readonly<Record<string, unknown>>[];

const EXPECTED = 'columns by name, or rows as objects';

function isListOfRows(value: unknown): value is readonly Record<string, unknown>[] {
  return Array.isArray(value) && value.every((row) => isRecord(row) && !(row instanceof tf.Tensor));
}

/** The features of an element of a data set, which may have labels beside. */
function featuresOf(batch: unknown): unknown {
  if (!isRecord(batch)) return batch;
  for (const key of ['features', 'xs']) if (isRecord(batch[key]) || isListOfRows(batch[key])) return batch[key];
  return batch;
}

/** Reads the columns that a pipeline wants of a batch; others are left alone. */
export class BatchReader {
  readonly #batch: Readonly<Record<string, unknown>> | readonly unknown[];

  constructor(
    given: unknown,
    private readonly argument: string,
  ) {
    const batch = featuresOf(given);
    if (!isListOfRows(batch) && (!isRecord(batch) || batch instanceof RaggedTensor || batch instanceof tf.Tensor)) {
      throw new ArgumentTypeError(argument, EXPECTED, given);
    }
    this.#batch = batch as Record<string, unknown> | unknown[];
  }

  #values(name: string, isList: boolean, mayMiss: boolean): unknown {
    const batch = this.#batch;
    if (!Array.isArray(batch)) {
      const found = (batch as Readonly<Record<string, unknown>>)[name];
      // A list that is missing is empty, as in data sets.
      if (isList && Array.isArray(found)) return found.map((row: unknown) => row ?? []);
      if (found !== undefined) return found;
      const expected = `the column ${name}`;
      throw new ValueError(
        `${this.argument}.${name}`,
        expected,
        described(`the columns ${Object.keys(batch).join(', ')}`),
      );
    }
    return (batch as Record<string, unknown>[]).map((row, i) => {
      const value = row[name];
      if (value !== undefined && value !== null) return value;
      if (isList && (mayMiss || value === null)) return [];
      if (mayMiss) return null;
      throw new ValueError(`${this.argument}[${i}].${name}`, 'a value', value);
    });
  }

  /** A column of one value a row [batch, 1], or of lists [batch, null]. */
  #read(name: string, { isList, missing }: ColumnStep): Cells {
    const argument = `${this.argument}.${name}`;
    const cells = readCells(this.#values(name, isList, missing !== 'error'), argument);
    return isList ? listCells(cells, argument) : valueCells(cells, argument);
  }

  /** The columns of a step. */
  columnsOf(step: ColumnStep): BatchColumn {
    const all = step.from.map((name) => this.#read(name, step));
    const { missing } = step;
    if (missing === 'error') return { cells: all, missing: null };
    const cells = all[0]!;
    const marks = missingIn(cells);
    if (marks === null) return { cells: all, missing: null };
    if (missing !== 'mask') {
      const flat = Array.from(cells.flat, (value, i) => (marks[i] === 1 ? missing : value));
      return { cells: [withOthers(cells, { flat })], missing: null };
    }
    return { cells: [presentCells(cells, marks)], missing: step.isList ? null : marks };
  }
}

/** The values of a column, or of several that are crossed; `missing`: rows that have none, which the values leave out. */
export interface BatchColumn {
  readonly cells: readonly Cells[];
  readonly missing: Uint8Array | null;
}

/** Marks of values that are null, undefined or NaN; null: none is. */
function missingIn({ flat, utf8 }: Cells): Uint8Array | null {
  if (utf8 !== undefined) return null;
  let marks: Uint8Array | null = null;
  for (let i = 0; i < flat.length; i++) {
    const value = flat[i] ?? NaN;
    if (typeof value === 'number' && Number.isNaN(value)) (marks ??= new Uint8Array(flat.length))[i] = 1;
  }
  return marks;
}

/** The values that are there, in rows of as many of them, or one below the other. */
function presentCells(cells: Cells, missing: Uint8Array): Cells {
  const { container } = cells;
  const flat = presentValues(cells.flat, missing);
  const rows =
    container.kind === 'ragged'
      ? columnContainer(flat.length, null, presentSplits(container.nestedRowSplits[0]!, missing))
      : columnContainer(flat.length, 1, null);
  const first = Array.from(missing.keys()).filter((place) => missing[place] === 0);
  const { argument, at } = cells.places!;
  return withOthers(cells, {
    ...{ flat, count: flat.length, container: rows },
    places: { argument, at: (position) => at(first[position]!) },
  });
}

function valueCells(cells: Cells, argument: string): Cells {
  const shape = shapeOf(cells);
  const isColumn = shape !== null && (shape.length === 1 || (shape.length === 2 && shape[1] === 1));
  if (shape?.length === 0) {
    const note = 'Give rows as a list, apply([row]), or columns by name with the values of all rows.';
    throw new ValueError(argument, 'the values of all rows', described('a single value'), note);
  }
  if (!isColumn) {
    const note = 'Rows of several values are declared as {list: ...}.';
    throw new ValueError(argument, 'one value for each row', described('rows of other lengths'), note);
  }
  const places = { argument, at: (position: number) => `in row ${position}` };
  return withOthers(cells, { container: columnContainer(cells.count, 1, null), places });
}

function listCells(cells: Cells, argument: string): Cells {
  const { container } = cells;
  const rowsOf = (splits: Int32Array): Cells => {
    const places = { argument, at: (position: number) => `in row ${rowOf(splits, position)}` };
    return withOthers(cells, { container: columnContainer(cells.count, null, splits), places });
  };
  if (container.kind === 'ragged' && container.nestedRowSplits.length === 1 && container.innerShape.length === 0) {
    return rowsOf(container.nestedRowSplits[0]!);
  }
  // Of no rows nobody knows what they would hold.
  if (container.kind === 'nested' && container.data.length === 0) return rowsOf(new Int32Array(1));
  if (rankOf(container) !== 2) {
    throw new ValueError(argument, 'a list of values for each row', described(`values of rank ${rankOf(container)}`));
  }
  const lengths =
    container.kind === 'nested'
      ? container.data.map((row) => (row as ArrayLike<unknown>).length)
      : new Array<number>(shapeOf(cells)![0]!).fill(shapeOf(cells)![1]!);
  const splits = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => (splits[row + 1] = splits[row]! + length));
  return rowsOf(splits);
}

/** The same cells but for these fields; values that are bytes stay bytes. */
function withOthers(cells: Cells, fields: Partial<Cells>): Cells {
  const properties = Object.entries(fields).map(([name, value]) => [
    name,
    { value: value as unknown, enumerable: true },
  ]);
  return Object.create(cells, Object.fromEntries(properties) as PropertyDescriptorMap) as Cells;
}
