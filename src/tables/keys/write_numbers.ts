/** Rows of an open table from numbers, whatever they are kept in. */
import type * as tf from '@tensorflow/tfjs';
import { writeRowsAt } from '../../backends/stores/table_rows.js';
import type { Table } from '../../backends/table.js';
import { checkPackable } from '../storage.js';

/** What it needs of the table. */
interface WrittenTable {
  readonly name: string;
  readonly table: Table | null;
  built(): tf.Variable;
}

/** Writes rows by their numbers, each at most once. Throws ValueError for numbers that the rows cannot keep. */
export function writeNumbersAt(of: WrittenTable, rows: Int32Array, values: Float32Array): void {
  const variable = of.built();
  const { codec, dim, isPlain } = of.table!;
  if (isPlain) return writeRowsAt(variable, rows, values);
  checkPackable(values, 0, { codec, dim }, of.name);
  const words = new Int32Array(rows.length * codec.words(dim));
  codec.pack(values, dim, words);
  writeRowsAt(variable, rows, words);
}
