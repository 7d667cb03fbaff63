/** The column to predict: two values, one of them positive. */
import { cellsOf, type TextTable } from './csv.js';
import { InputError } from '../input_error.mjs';

export interface LabelColumn {
  readonly name: string;
  readonly positive: string;
  readonly negative: string;
}

/** The label of a training table: the last column and its last value in sort order, unless named. */
export function findLabel(table: TextTable, name: string | null, positive: string | null): LabelColumn {
  const column = name ?? table.columns.at(-1)!;
  const values = [...new Set(cellsOf(table, column))].sort();
  if (values.length !== 2) {
    const some = values.slice(0, 5).map((value) => `"${value}"`);
    const shown = `${values.length} (${some.join(', ')}${values.length > 5 ? ', …' : ''})`;
    throw new InputError(`the label column "${column}" must hold exactly two values, but holds ${shown}`);
  }
  const chosen = positive ?? values[1]!;
  if (!values.includes(chosen)) {
    throw new InputError(`--positive "${chosen}" is no value of "${column}"; there are: ${values.join(', ')}`);
  }
  return { name: column, positive: chosen, negative: values.find((value) => value !== chosen)! };
}

/** 1 for each positive row, 0 for each other one. Throws InputError for a value that training did not have. */
export function labelsOf(table: TextTable, label: LabelColumn): Float32Array {
  return Float32Array.from(cellsOf(table, label.name), (cell, row) => {
    if (cell === label.positive) return 1;
    if (cell === label.negative) return 0;
    const known = `"${label.negative}" or "${label.positive}"`;
    throw new InputError(`the label "${label.name}" of row ${row + 1} must be ${known}, but is "${cell}"`);
  });
}
