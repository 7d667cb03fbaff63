/** Data sets of columns in memory. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { isRecord, readOptions } from '../base/options.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { readRowPair } from '../ids/row_pair.js';
import { splitsOfLengths, uniformSplits } from '../ids/row_splits.js';
import { DECLARATION_FIELDS, readDeclaration, type ColumnType, type DeclarationArgs } from './column_spec.js';
import { Dataset } from './dataset.js';
import type { RawColumn } from './raw_column.js';

/** A column in memory: a value for each row, or a list for each. */
export type ArrayColumn =
  | readonly unknown[]
  | Int32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | tf.Tensor
  | RaggedTensor
  | {
      readonly values: readonly number[] | Int32Array | Float32Array;
      readonly rowSplits: readonly number[] | Int32Array;
    };

const EXPECTED = 'an array, a typed array, a tensor of rank 1 or 2, a RaggedTensor or {values, rowSplits}';

const isTyped = (value: unknown): value is Int32Array => ArrayBuffer.isView(value) && !(value instanceof DataView);
const isList = (value: unknown): value is ArrayLike<unknown> => Array.isArray(value) || isTyped(value);

/** A list of numbers for each row: the numbers in a typed array where all are whole, or none is missing. */
function flatRows(rows: readonly unknown[], path: string): RawColumn {
  const lengths = new Int32Array(rows.length);
  rows.forEach((row, i) => {
    if (row !== null && row !== undefined && !isList(row)) {
      throw new ArgumentTypeError(path, 'a list in each row', described(`${typeof row} in row ${i + 1}`));
    }
    lengths[i] = (row as ArrayLike<unknown> | null | undefined)?.length ?? 0;
  });
  const rowSplits = splitsOfLengths(lengths);
  const values: unknown[] = [];
  for (const row of rows as readonly (ArrayLike<unknown> | null)[]) {
    for (let i = 0; i < (row?.length ?? 0); i++) values.push(row![i]);
  }
  const nested = values.findIndex((value) => isList(value));
  if (nested >= 0) throw new ValueError(path, 'lists of single values', described('lists of lists'));
  return { values, rowSplits, isText: false };
}

/** A column as it came, and its number of rows. */
function readColumn(value: unknown, path: string): { column: RawColumn; count: number } {
  if (value instanceof tf.Tensor) {
    checkLive(value, path);
    const { shape, rank } = value;
    const values = value.dataSync() as unknown as ArrayLike<unknown>;
    if (rank === 1) return { column: { values, rowSplits: null, isText: false }, count: shape[0]! };
    // A tensor of labels [rows, 1] has a value in each row.
    if (rank === 2 && shape[1] === 1) return { column: { values, rowSplits: null, isText: false }, count: shape[0]! };
    if (rank !== 2) throw new ValueError(path, EXPECTED, described(`a tensor of rank ${rank}`));
    const column = { values, rowSplits: uniformSplits(shape[0]!, shape[1]!), isText: false };
    return { column, count: shape[0]! };
  }
  if (value instanceof RaggedTensor) {
    const { values, nestedRowSplits, innerShape } = value;
    if (nestedRowSplits.length !== 1 || innerShape.length > 0) {
      throw new ValueError(path, 'rows of single values', described(`shape [${value.shape.map(String).join(', ')}]`));
    }
    const rowSplits = nestedRowSplits[0]!;
    return { column: { values, rowSplits, isText: false }, count: rowSplits.length - 1 };
  }
  if (isTyped(value)) return { column: { values: value, rowSplits: null, isText: false }, count: value.length };
  if (Array.isArray(value)) {
    const first = (value as unknown[]).find((each) => each !== null && each !== undefined);
    const column = isList(first) ? flatRows(value, path) : { values: value, rowSplits: null, isText: false };
    return { column, count: value.length };
  }
  const pair = isRecord(value) && 'rowSplits' in value ? readRowPair(value, path, EXPECTED) : null;
  if (pair === null) throw new ArgumentTypeError(path, EXPECTED, value);
  return readColumn(RaggedTensor.fromRowSplits(pair.values as never, pair.rowSplits as never), path);
}

/** The type that values say they have. */
export function typeOfValues({ values, rowSplits }: RawColumn): ColumnType {
  const kinds = new Set<string>();
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    if (typeof value === 'number') kinds.add(Number.isInteger(value) ? 'int' : 'float');
    else if (typeof value === 'bigint' || typeof value === 'boolean') kinds.add('int');
    else kinds.add(value instanceof Date ? 'date' : 'string');
    if (isTyped(values)) break;
  }
  if (values instanceof Float32Array || values instanceof Float64Array) kinds.clear();
  const item = kinds.has('string')
    ? 'string'
    : kinds.has('date')
      ? 'date'
      : kinds.has('float') || kinds.size === 0
        ? 'float'
        : 'int';
  if (values.length === 0 && values instanceof Int32Array) return rowSplits === null ? 'int' : { list: 'int' };
  if (rowSplits === null) return item;
  return { list: item === 'date' ? 'string' : item };
}

/**
 * Returns a data set of columns in memory.
 *
 * `columns` are arrays, typed arrays, tensors [rows] or [rows, n], RaggedTensors or {values, rowSplits}, by name, all with
 * as many rows; a list in each row makes a ragged column. Arrays are read when the data set is made, and not copied: change
 * them afterwards and rows change. Types are those of the values (whole numbers: 'int'; texts: 'string'), unless
 * `options.columns` says otherwise.
 *
 * @param columns - Values by name.
 * @param options - Types, label and weight; see `DeclarationArgs`.
 * @returns A `Dataset` of known size.
 * @throws TypeError for columns of another kind; ValueError for columns of different lengths, and what does not fit the
 * types, while rows are read. Source: tf.data.Dataset.from_tensor_slices (TensorFlow 2.21).
 *
 * @example
 * const rows = emb.data.fromArrays({visits: [[1, 2], [3]], click: [0, 1]}, {label: 'click'});
 */
export function fromArrays(columns: Readonly<Record<string, ArrayColumn>>, options: DeclarationArgs = {}): Dataset {
  if (!isRecord(columns)) throw new ArgumentTypeError('columns', 'an object of columns by name', columns);
  const args = readOptions<DeclarationArgs>(options, DECLARATION_FIELDS);
  const read = new Map<string, RawColumn>();
  let rows: { name: string; count: number } | null = null;
  for (const [name, value] of Object.entries(columns)) {
    const { column, count } = readColumn(value, `columns.${name}`);
    rows ??= { name, count };
    if (count !== rows.count) {
      throw new ValueError(`columns.${name}`, `${rows.count} rows, as ${rows.name} has`, described(`${count}`));
    }
    read.set(name, column);
  }
  if (rows === null) throw new ValueError('columns', 'at least one column', described('none'));
  const types = new Map([...read].map(([name, column]) => [name, typeOfValues(column)] as const));
  const declaration = readDeclaration(args, types);
  const { count } = rows;
  const chunk = { count, first: 0, where: 'the arrays', columns: read };
  const source = {
    size: count,

    async *open() {
      yield chunk;
    },
  };
  return new Dataset({ source, declaration, naValues: new Set() });
}
