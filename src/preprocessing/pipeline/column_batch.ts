/** Batches of several columns: columns by name, or rows as objects. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { readCells, type Cells } from '../cells/cells.js';
import { rankOf, shapeOf } from '../cells/written_cells.js';
import type { ColumnStep } from './column_steps.js';

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

  #values(name: string): unknown {
    const batch = this.#batch;
    if (!Array.isArray(batch)) {
      const found = (batch as Readonly<Record<string, unknown>>)[name];
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
      throw new ValueError(`${this.argument}[${i}].${name}`, 'a value', value);
    });
  }

  /** A column of one value a row [batch, 1], or of lists [batch, null]. */
  read(name: string, isList: boolean): Cells {
    const argument = `${this.argument}.${name}`;
    const cells = readCells(this.#values(name), argument);
    return isList ? listCells(cells, argument) : valueCells(cells, argument);
  }

  /** The columns of a step. */
  cellsOf({ from, isList }: ColumnStep): Cells[] {
    return from.map((name) => this.read(name, isList));
  }
}

function valueCells(cells: Cells, argument: string): Cells {
  const shape = shapeOf(cells);
  const isColumn = shape !== null && (shape.length === 1 || (shape.length === 2 && shape[1] === 1));
  if (!isColumn) {
    const note = 'Rows of several values are declared as {list: ...}.';
    throw new ValueError(argument, 'one value for each row', described('rows of other lengths'), note);
  }
  return withContainer(cells, { kind: 'tensor', shape: [cells.count, 1] });
}

function listCells(cells: Cells, argument: string): Cells {
  const { container } = cells;
  if (container.kind === 'ragged' && container.nestedRowSplits.length === 1 && container.innerShape.length === 0) {
    return cells;
  }
  if (rankOf(container) !== 2) {
    throw new ValueError(argument, 'a list of values for each row', described(`values of rank ${rankOf(container)}`));
  }
  const lengths =
    container.kind === 'nested'
      ? container.data.map((row) => (row as ArrayLike<unknown>).length)
      : new Array<number>(shapeOf(cells)![0]!).fill(shapeOf(cells)![1]!);
  const splits = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => (splits[row + 1] = splits[row]! + length));
  return withContainer(cells, { kind: 'ragged', nestedRowSplits: [splits], innerShape: [] });
}

/** The same values in another form; those that are bytes stay bytes. */
function withContainer(cells: Cells, container: Cells['container']): Cells {
  return Object.create(cells, { container: { value: container, enumerable: true } }) as Cells;
}
