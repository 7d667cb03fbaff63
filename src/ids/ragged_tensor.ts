/** Rows of different lengths, as flat values and row splits. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../base/per_process.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { readNestedRows, type NestedRows } from './nested_rows.js';
import { fromPaddedRows, toPaddedValues, type FromPaddedOptions, type ToPaddedOptions } from './padding.js';
import { checkRowSplits, lengthsOfSplits, sameNumbers, splitsOfLengths } from './row_splits.js';
import { readSparse, type SparseInput, type SparseValues } from './sparse_values.js';
import { readFlat, readInt32, type FlatInput, type ValuesDtype } from './values.js';

export interface FromRowsOptions {
  /** Without it: int32 where all numbers are whole, else float32. */
  dtype?: ValuesDtype | undefined;
}

/** How calls are written, for error messages. */
const FROM_ROWS = `RaggedTensor.fromRows([[3, 1], [], [4]], {dtype: 'int32'})`;
const FROM_SPARSE = 'RaggedTensor.fromSparse({indices, values, denseShape})';
const FROM_ROW_SPLITS = 'Write RaggedTensor.fromRowSplits(values, rowSplits).';

/** Known to the factories alone. */
const MADE = Symbol('made by a factory');

/** What `toString` still shows in full. */
const MOST_ROWS_SHOWN = 20;
const MOST_VALUES_SHOWN = 100;

/**
 * A tensor with rows of different lengths; immutable.
 *
 * `values` holds the innermost values row-major as one flat Int32Array or Float32Array, each of `innerShape` ([] for
 * plain ids). `nestedRowSplits` holds one Int32Array per ragged axis, outermost first: row r of an axis holds the
 * entries splits[r] .. splits[r + 1] of the next one. Splits start at 0, never fall and end at the number of values.
 * What is passed in is copied, so later writes to it change nothing; the arrays handed out are shared and must not be
 * written. It lives in JavaScript memory and needs no dispose.
 * Source: tf.RaggedTensor (TensorFlow 2.21).
 *
 * @example
 * const ragged = emb.RaggedTensor.fromRows([[3, 1], [], [4]]);
 * ragged.values; // Int32Array [3, 1, 4]
 * ragged.rowSplits; // Int32Array [0, 2, 2, 3]
 */
export class RaggedTensor {
  static {
    brand(this, 'RaggedTensor');
  }
  /** Innermost values, row-major and flat. */
  readonly values: Int32Array | Float32Array;
  /** Splits of each ragged axis, outermost first; at least one. */
  readonly nestedRowSplits: readonly Int32Array[];
  /** Shape of one innermost value. */
  readonly innerShape: readonly number[];
  /** [rows, null for each ragged axis, ...innerShape]. */
  readonly shape: readonly (number | null)[];

  private constructor(
    values: Int32Array | Float32Array,
    nestedRowSplits: readonly Int32Array[],
    innerShape: readonly number[],
    made: typeof MADE,
  ) {
    if (made !== MADE) {
      const note = 'Write RaggedTensor.fromRows([[3, 1], [], [4]]) or RaggedTensor.fromRowSplits(values, rowSplits).';
      throw new ArgumentTypeError('RaggedTensor', 'a call of one of its factories', described('new'), note);
    }
    this.values = values;
    this.nestedRowSplits = Object.freeze([...nestedRowSplits]);
    this.innerShape = Object.freeze([...innerShape]);
    this.shape = Object.freeze([nestedRowSplits[0]!.length - 1, ...nestedRowSplits.map(() => null), ...innerShape]);
    Object.freeze(this);
  }

  /** Splits of the outermost axis. */
  get rowSplits(): Int32Array {
    return this.nestedRowSplits[0]!;
  }

  /** 'int32' or 'float32'. */
  get dtype(): ValuesDtype {
    return this.values instanceof Int32Array ? 'int32' : 'float32';
  }

  /** Number of axes, ragged and inner ones. */
  get rank(): number {
    return this.shape.length;
  }

  /** Number of ragged axes. */
  get raggedRank(): number {
    return this.nestedRowSplits.length;
  }

  /**
   * Lengths of the outermost rows.
   *
   * @returns A length for each outermost row.
   */
  rowLengths(): Int32Array {
    return lengthsOfSplits(this.rowSplits);
  }

  /**
   * Returns a ragged tensor whose row r holds values[splits[r] .. splits[r + 1]).
   * `values`: array, typed array, tensor (its first axis is split) or RaggedTensor (gets one more axis). Plain numbers
   * become int32 where all are whole, else float32. `innerShape`: shape of one value; [] for arrays unless given.
   *
   * @param values - The values, one after the other.
   * @param rowSplits - Where each row begins, and where the last one ends.
   * @param innerShape - The shape of one value.
   * @returns A new ragged tensor.
   * @throws TypeError for wrong types; ValueError for splits that do not start at 0, fall or end elsewhere than at the
   * number of values, and for ids that are not whole int32.
   *
   * @example
   * emb.RaggedTensor.fromRowSplits([3, 1, 4], [0, 2, 2, 3]).toRows(); // [[3, 1], [], [4]]
   */
  static fromRowSplits(
    values: FlatInput | RaggedTensor,
    rowSplits: FlatInput,
    innerShape?: readonly number[],
  ): RaggedTensor {
    if (rowSplits === undefined) {
      throw new ArgumentTypeError('rowSplits', 'a vector of whole numbers', rowSplits, FROM_ROW_SPLITS);
    }
    return RaggedTensor.fromNestedRowSplits(values, [rowSplits], innerShape);
  }

  /**
   * Returns a ragged tensor with several ragged axes; `nestedRowSplits` from the outermost to the innermost.
   * Values and errors as in `fromRowSplits`.
   *
   * @param values - The innermost values, one after the other.
   * @param nestedRowSplits - The splits of each ragged axis, outermost first.
   * @param innerShape - The shape of one value.
   * @returns A new ragged tensor.
   *
   * @example
   * emb.RaggedTensor.fromNestedRowSplits([7, 8, 9], [[0, 2], [0, 1, 3]]).toRows(); // [[[7], [8, 9]]]
   */
  static fromNestedRowSplits(
    values: FlatInput | RaggedTensor,
    nestedRowSplits: readonly FlatInput[],
    innerShape?: readonly number[],
  ): RaggedTensor {
    if (!Array.isArray(nestedRowSplits)) {
      throw new ArgumentTypeError('nestedRowSplits', 'an array of row splits', nestedRowSplits);
    }
    if (nestedRowSplits.length === 0) throw new ValueError('nestedRowSplits', 'at least one', nestedRowSplits);
    const name = (axis: number): string => (nestedRowSplits.length === 1 ? 'rowSplits' : `nestedRowSplits[${axis}]`);
    // Not by `map`, which leaves holes out.
    const splits = Array.from(nestedRowSplits, (each, axis) => readInt32(each, name(axis)).slice());
    const inner = isRagged(values) ? values : readFlat(values, 'values', { innerShape });
    const below = inner instanceof RaggedTensor ? inner.nestedRowSplits : [];
    const counts = [...splits, ...below].map((each) => each.length - 1);
    const last = inner instanceof RaggedTensor ? inner.rowSplits.length - 1 : inner.count;
    splits.forEach((each, axis) => {
      const entries = axis + 1 < splits.length ? Math.max(counts[axis + 1]!, 0) : last;
      checkRowSplits(each, entries, name(axis));
    });
    const own = inner instanceof RaggedTensor ? inner.values : inner.values.slice();
    return new RaggedTensor(own, [...splits, ...below], inner.innerShape, MADE);
  }

  /**
   * Returns a ragged tensor with rows of the given lengths (whole numbers >= 0 that add up to the number of values).
   *
   * @param values - The values, one after the other.
   * @param lengths - The length of each row.
   * @param innerShape - The shape of one value.
   * @returns A new ragged tensor.
   *
   * @example
   * emb.RaggedTensor.fromRowLengths([3, 1, 4], [2, 0, 1]).toRows(); // [[3, 1], [], [4]]
   */
  static fromRowLengths(
    values: FlatInput | RaggedTensor,
    lengths: FlatInput,
    innerShape?: readonly number[],
  ): RaggedTensor {
    const splits = splitsOfLengths(readInt32(lengths, 'lengths'), 'lengths');
    const inner = isRagged(values) ? values : readFlat(values, 'values', { innerShape });
    const count = inner instanceof RaggedTensor ? inner.rowSplits.length - 1 : inner.count;
    if (splits.at(-1) !== count) {
      throw new ValueError('lengths', `lengths that add up to ${count}`, described(`a sum of ${splits.at(-1)}`));
    }
    return RaggedTensor.fromRowSplits(values, splits, innerShape);
  }

  /**
   * Returns a ragged tensor of nested arrays, to any depth; nothing is truncated or padded. Every axis but the
   * outermost is ragged, even where its rows happen to have one length.
   *
   * @param rows - Nested arrays of numbers.
   * @param options - The dtype.
   * @returns A new ragged tensor.
   * @throws TypeError for anything but numbers; ValueError where numbers lie at different depths, or there is one axis.
   *
   * @example
   * emb.RaggedTensor.fromRows([[3, 1], [], [4]]).rowSplits; // Int32Array [0, 2, 2, 3]
   */
  static fromRows(rows: readonly NestedRows[], options: FromRowsOptions = {}): RaggedTensor {
    const { dtype } = readOptions<FromRowsOptions>(options, ['dtype'], 'options', FROM_ROWS);
    if (!Array.isArray(rows)) throw new ArgumentTypeError('rows', 'nested arrays of numbers', rows);
    const { flat, depth, nestedRowSplits } = readNestedRows(rows, 'rows');
    if (depth < 2 && rows.length > 0) throw new ValueError('rows', 'an array of rows', described('a flat array'));
    const { values } = readFlat(flat, 'rows', { dtype });
    return new RaggedTensor(values, depth < 2 ? [Int32Array.of(0)] : nestedRowSplits, [], MADE);
  }

  /**
   * Returns the rows of a padded tensor without their padding. `padded`: [rows, maxLength, ...inner], a tensor or
   * even nested arrays. Give `lengths` (one per row), or `padding`: the value that ends are filled with; only trailing
   * padding is dropped, as in TensorFlow. Without either every row has full length.
   *
   * @param padded - [rows, maxLength, ...inner].
   * @param options - Lengths of the rows, or the value that ends are filled with.
   * @returns A new ragged tensor.
   * @throws TypeError for wrong types; ValueError for rank < 2 and lengths outside [0, maxLength].
   *
   * @example
   * emb.RaggedTensor.fromPadded(tf.tensor2d([[3, 1], [4, -1]], [2, 2], 'int32'), {padding: -1}).toRows(); // [[3, 1], [4]]
   */
  static fromPadded(padded: tf.Tensor | readonly NestedRows[], options: FromPaddedOptions = {}): RaggedTensor {
    const { values, rowSplits, innerShape } = fromPaddedRows(padded, options);
    return new RaggedTensor(values, [rowSplits], innerShape, MADE);
  }

  /**
   * Returns the rows of a rank-2 sparse matrix whose entries fill each row from its first column on.
   * Source: tf.RaggedTensor.from_sparse (TensorFlow 2.21).
   *
   * @param sparse - Indices, values and the dense shape.
   * @param options - The dtype.
   * @returns A new ragged tensor.
   * @throws ValueError for another rank, for entries out of order and for a gap in a row.
   *
   * @example
   * emb.RaggedTensor.fromSparse({indices: [[0, 0], [0, 1], [2, 0]], values: [3, 1, 4], denseShape: [3, 2]}).toRows();
   * // [[3, 1], [], [4]]
   */
  static fromSparse(sparse: SparseInput, options: FromRowsOptions = {}): RaggedTensor {
    const { dtype } = readOptions<FromRowsOptions>(options, ['dtype'], 'options', FROM_SPARSE);
    const { indices, denseShape, count } = readSparse(sparse, 'sparse');
    if (denseShape.length !== 2) throw new ValueError('sparse.denseShape', 'two axes', sparse.denseShape);
    const lengths = new Int32Array(denseShape[0]!);
    for (let i = 0; i < count; i++) {
      const row = indices[2 * i]!;
      const column = indices[2 * i + 1]!;
      if (column !== lengths[row]) {
        const received = described(`column ${column} after ${lengths[row]} entries of row ${row}`);
        throw new ValueError('sparse.indices', 'rows filled from column 0 without gaps', received);
      }
      lengths[row]!++;
    }
    const { values } = readFlat(sparse.values, 'sparse.values', { dtype });
    return new RaggedTensor(values.slice(), [splitsOfLengths(lengths)], [], MADE);
  }

  /**
   * Returns a dense tensor [rows, longest of each ragged axis, ...innerShape] with ends filled.
   * `defaultValue` (-1) fills; `maxLength` fixes the length of the innermost ragged axis, or, as an array, of each one
   * (null: the longest); longer rows are cut there, only then. The tensor belongs to the caller. -1 is no id:
   * embedding layers of this package leave it out. Stock ones refuse it, and take another `defaultValue`.
   *
   * @param options - The value that ends are filled with, and the length of rows.
   * @returns A new tensor.
   *
   * @example
   * emb.RaggedTensor.fromRows([[3, 1], [], [4]]).toPadded().print(); // [[3, 1], [-1, -1], [4, -1]]
   */
  toPadded(options: ToPaddedOptions = {}): tf.Tensor {
    const { values, shape } = toPaddedValues(this, options);
    return tf.tensor(values, shape, this.dtype);
  }

  /**
   * Returns nested arrays: one per ragged and inner axis. `Row` is the type of one: number[] with one ragged axis.
   *
   * @returns The rows.
   *
   * @example
   * emb.RaggedTensor.fromRowSplits([3, 1, 4], [0, 2, 2, 3]).toRows(); // [[3, 1], [], [4]]
   */
  toRows<Row = unknown>(): Row[] {
    const size = this.innerShape.reduce((product, length) => product * length, 1);
    const count = this.nestedRowSplits.at(-1)!.at(-1)!;
    let entries: NestedRows[] = [];
    for (let i = 0; i < count; i++) entries.push(nest(this.values.subarray(i * size, (i + 1) * size), this.innerShape));
    for (const splits of [...this.nestedRowSplits].reverse()) {
      const rows: NestedRows[] = [];
      for (let row = 0; row + 1 < splits.length; row++) rows.push(entries.slice(splits[row], splits[row + 1]));
      entries = rows;
    }
    return entries as Row[];
  }

  /**
   * Returns the rows as text, as far as they are short.
   *
   * @returns The text.
   */
  toString(): string {
    const shown = this.rowSplits.length > MOST_ROWS_SHOWN ? `${this.rowSplits.length - 1} rows` : '';
    const rows = shown === '' && this.values.length <= MOST_VALUES_SHOWN ? JSON.stringify(this.toRows()) : shown;
    return `RaggedTensor(${this.dtype}, shape [${this.shape.map((size) => size ?? 'ragged').join(', ')}]) ${rows}`.trim();
  }

  /**
   * Returns {indices, values, denseShape} in row-major order: `indices` flat Int32Array [values, rank],
   * `denseShape` with the longest length of each ragged axis. Source: tf.RaggedTensor.to_sparse (TensorFlow 2.21).
   *
   * @returns The values with the position of each.
   *
   * @example
   * emb.RaggedTensor.fromRows([[3, 1], [], [4]]).toSparse().denseShape; // [3, 2]
   */
  toSparse(): SparseValues {
    const { rank, nestedRowSplits, innerShape } = this;
    const longest = nestedRowSplits.map((splits) => lengthsOfSplits(splits).reduce((a, b) => Math.max(a, b), 0));
    const indices = new Int32Array(this.values.length * rank);
    let written = 0;
    const walk = (axis: number, entry: number, path: number[]): void => {
      const splits = nestedRowSplits[axis];
      const first = splits === undefined ? 0 : splits[entry]!;
      const end = splits === undefined ? (innerShape[axis - nestedRowSplits.length] ?? -1) : splits[entry + 1]!;
      if (end === -1) {
        indices.set(path, written);
        written += rank;
        return;
      }
      for (let i = first; i < end; i++) walk(axis + 1, i, [...path, i - first]);
    };
    for (let row = 0; row + 1 < this.rowSplits.length; row++) walk(0, row, [row]);
    const denseShape = [this.rowSplits.length - 1, ...longest, ...innerShape];
    return { indices, values: this.values.slice(), denseShape };
  }

  /**
   * Whether another ragged tensor has the same rows, whatever they hold.
   *
   * @param other - Another ragged tensor.
   * @returns Whether all row splits are equal.
   */
  hasSplitsOf(other: RaggedTensor): boolean {
    return (
      this.raggedRank === other.raggedRank &&
      this.nestedRowSplits.every((splits, axis) => sameNumbers(splits, other.nestedRowSplits[axis]!))
    );
  }
}

function isRagged(values: unknown): values is RaggedTensor {
  return values instanceof RaggedTensor;
}

function nest(values: Int32Array | Float32Array, shape: readonly number[]): NestedRows {
  if (shape.length === 0) return values[0]!;
  const [length, ...below] = shape as [number, ...number[]];
  const size = below.reduce((product, each) => product * each, 1);
  return Array.from({ length }, (_, i) => nest(values.subarray(i * size, (i + 1) * size), below));
}
