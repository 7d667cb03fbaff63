/** Rows of different lengths, as flat values and row splits. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../base/per_process.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { readNestedRows, rowsOf, type NestedRows } from './nested_rows.js';
import { fromPaddedRows, toPaddedValues, type FromPaddedOptions, type ToPaddedOptions } from './padding.js';
import {
  entriesOf,
  joinEntries,
  joinRows,
  keptBy,
  rowNumbers,
  slicedRows,
  splitsOfLimits,
  splitsOfOneLength,
  splitsOfRowIds,
  splitsOfStarts,
  takeEntries,
  type Entries,
} from './ragged_entries.js';
import { refuseStockModels, refusingStockModels } from './ragged_readers.js';
import { checkRowSplits, lengthsOfSplits, sameNumbers, splitsOfLengths } from './row_splits.js';
import { lengthsOfSparse, sparseOf, type SparseInput, type SparseValues } from './sparse_values.js';
import { readFlat, readInt32, type FlatInput, type FlatValues, type ValuesDtype } from './values.js';

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
const [MOST_ROWS_SHOWN, MOST_VALUES_SHOWN] = [20, 100];

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
    Object.setPrototypeOf(this.prototype, refusingStockModels);
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
    return refuseStockModels() ?? this.shape.length;
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
    const splits = readInt32(rowSplits, 'rowSplits').slice();
    return RaggedTensor.#split(values, innerShape, (count) => {
      checkRowSplits(splits, count);
      return splits;
    });
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
    const name = (axis: number): string => `nestedRowSplits[${axis}]`;
    // Not by `map`, which leaves holes out.
    const splits = Array.from(nestedRowSplits, (each, axis) => readInt32(each, name(axis)).slice());
    const inner = readInner(values, innerShape);
    const below = inner instanceof RaggedTensor ? inner.nestedRowSplits : [];
    const counts = [...splits, ...below].map((each) => each.length - 1);
    const last = valueCount(inner);
    splits.forEach((each, axis) => {
      const entries = axis + 1 < splits.length ? Math.max(counts[axis + 1]!, 0) : last;
      checkRowSplits(each, entries, name(axis));
    });
    return RaggedTensor.#over(inner, splits);
  }

  /** The rows of these splits over values, which are copied unless they are immutable. */
  static #over(inner: RaggedTensor | FlatValues, splits: readonly Int32Array[]): RaggedTensor {
    const [own, below] =
      inner instanceof RaggedTensor ? [inner.values, inner.nestedRowSplits] : [inner.values.slice(), []];
    return new RaggedTensor(own, [...splits, ...below], inner.innerShape, MADE);
  }

  /** The rows of values whose splits depend on their number. */
  static #split(
    values: FlatInput | RaggedTensor,
    innerShape: readonly number[] | undefined,
    splitsFor: (count: number) => Int32Array,
  ): RaggedTensor {
    const inner = readInner(values, innerShape);
    return RaggedTensor.#over(inner, [splitsFor(valueCount(inner))]);
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
    return RaggedTensor.#split(values, innerShape, (count) => {
      if (splits.at(-1) === count) return splits;
      throw new ValueError('lengths', `lengths that add up to ${count}`, described(`a sum of ${splits.at(-1)}`));
    });
  }

  /**
   * Returns a ragged tensor whose value i lies in row valueRowIds[i]; row numbers start from 0 on and never fall.
   * `rows`: how many rows there are, by default as many as valueRowIds names; the rest is empty.
   * Source: tf.RaggedTensor.from_value_rowids (TensorFlow 2.21).
   *
   * @param values - The values, one after the other.
   * @param valueRowIds - The row of each value.
   * @param rows - The number of rows.
   * @param innerShape - The shape of one value.
   * @returns A new ragged tensor.
   * @throws ValueError for rows that fall, are negative or are not below `rows`.
   *
   * @example
   * emb.RaggedTensor.fromValueRowIds([3, 1, 4], [0, 0, 2]).toRows(); // [[3, 1], [], [4]]
   */
  static fromValueRowIds(
    values: FlatInput | RaggedTensor,
    valueRowIds: FlatInput,
    rows?: number | null,
    innerShape?: readonly number[],
  ): RaggedTensor {
    return RaggedTensor.#split(values, innerShape, (count) => splitsOfRowIds(valueRowIds, count, rows));
  }

  /**
   * Returns a ragged tensor whose row r starts at rowStarts[r]; the first starts at 0, the last one ends with the values.
   * Source: tf.RaggedTensor.from_row_starts (TensorFlow 2.21).
   *
   * @param values - The values, one after the other.
   * @param rowStarts - Where each row begins.
   * @param innerShape - The shape of one value.
   * @returns A new ragged tensor.
   * @throws ValueError for starts that do not begin at 0, fall, or lie behind the values; and for values without a row.
   *
   * @example
   * emb.RaggedTensor.fromRowStarts([3, 1, 4], [0, 2, 2]).toRows(); // [[3, 1], [], [4]]
   */
  static fromRowStarts(
    values: FlatInput | RaggedTensor,
    rowStarts: FlatInput,
    innerShape?: readonly number[],
  ): RaggedTensor {
    return RaggedTensor.#split(values, innerShape, (count) => splitsOfStarts(rowStarts, count));
  }

  /**
   * Returns a ragged tensor whose row r ends before rowLimits[r].
   * Source: tf.RaggedTensor.from_row_limits (TensorFlow 2.21).
   *
   * @param values - The values, one after the other.
   * @param rowLimits - Where each row ends; the last one with the values.
   * @param innerShape - The shape of one value.
   * @returns A new ragged tensor.
   * @throws ValueError for limits that fall or do not end with the values.
   *
   * @example
   * emb.RaggedTensor.fromRowLimits([3, 1, 4], [2, 2, 3]).toRows(); // [[3, 1], [], [4]]
   */
  static fromRowLimits(
    values: FlatInput | RaggedTensor,
    rowLimits: FlatInput,
    innerShape?: readonly number[],
  ): RaggedTensor {
    return RaggedTensor.#split(values, innerShape, (count) => splitsOfLimits(rowLimits, count));
  }

  /**
   * Returns a ragged tensor whose rows have one length. Of rows of length 0 `rows` tells how many there are (0).
   * Source: tf.RaggedTensor.from_uniform_row_length (TensorFlow 2.21).
   *
   * @param values - The values, one after the other.
   * @param rowLength - The length of all rows.
   * @param rows - The number of rows.
   * @param innerShape - The shape of one value.
   * @returns A new ragged tensor.
   * @throws ValueError for values that do not fill the rows.
   *
   * @example
   * emb.RaggedTensor.fromUniformRowLength([3, 1, 4, 1], 2).toRows(); // [[3, 1], [4, 1]]
   */
  static fromUniformRowLength(
    values: FlatInput | RaggedTensor,
    rowLength: number,
    rows?: number | null,
    innerShape?: readonly number[],
  ): RaggedTensor {
    return RaggedTensor.#split(values, innerShape, (count) => splitsOfOneLength(rowLength, count, rows));
  }

  /**
   * Returns ragged tensors put together: with `axis` 0 their rows one after the other, with 1 the rows of the same number
   * side by side. All have the same ragged axes, inner shape and dtype.
   * Source: tf.concat of ragged tensors (TensorFlow 2.21).
   *
   * @param tensors - One or more.
   * @param axis - 0 or 1.
   * @returns A new ragged tensor.
   * @throws TypeError for what is no RaggedTensor, and for mixed dtypes; ValueError for none, for other axes, and for
   * different numbers of rows with `axis` 1.
   *
   * @example
   * const [a, b] = [[[1], [2, 3]], [[4], []]].map((rows) => emb.RaggedTensor.fromRows(rows));
   * emb.RaggedTensor.concat([a, b], 1).toRows(); // [[1, 4], [2, 3]]
   */
  static concat(tensors: readonly RaggedTensor[], axis: 0 | 1 = 0): RaggedTensor {
    const parts = alike(tensors);
    if (axis !== 0 && axis !== 1) throw new ValueError('axis', '0 or 1', axis);
    const rows = tensors[0]!.shape[0];
    const other = axis === 1 ? tensors.findIndex(({ shape }) => shape[0] !== rows) : -1;
    if (other >= 0) {
      throw new ValueError(`tensors[${other}]`, `${rows} rows, as the first has`, tensors[other]!.shape[0]);
    }
    return RaggedTensor.#ofEntries(axis === 0 ? joinEntries(parts) : joinRows(parts), tensors[0]!.innerShape);
  }

  /**
   * Returns ragged tensors as the rows of one with one more axis: entry i is tensor i.
   * Source: tf.stack of ragged tensors (TensorFlow 2.21).
   *
   * @param tensors - One or more, of the same ragged axes, inner shape and dtype.
   * @returns A new ragged tensor.
   * @throws As `concat`.
   *
   * @example
   * const [a, b] = [[[1], [2, 3]], [[4]]].map((rows) => emb.RaggedTensor.fromRows(rows));
   * emb.RaggedTensor.stack([a, b]).toRows(); // [[[1], [2, 3]], [[4]]]
   */
  static stack(tensors: readonly RaggedTensor[]): RaggedTensor {
    const { splits, ...rest } = joinEntries(alike(tensors));
    const outer = splitsOfLengths(Int32Array.from(tensors, ({ shape }) => shape[0]!));
    return RaggedTensor.#ofEntries({ ...rest, splits: [outer, ...splits] }, tensors[0]!.innerShape);
  }

  static #ofEntries({ splits, values }: Entries, innerShape: readonly number[]): RaggedTensor {
    return new RaggedTensor(values, splits, innerShape, MADE);
  }

  /**
   * Returns the rows of these numbers, in their order; a row may come several times.
   * Source: tf.gather of a ragged tensor (TensorFlow 2.21).
   *
   * @param rows - Numbers of outermost rows.
   * @returns A new ragged tensor.
   * @throws ValueError for numbers outside [0, rows).
   *
   * @example
   * emb.RaggedTensor.fromRows([[3, 1], [], [4]]).gather([2, 0]).toRows(); // [[4], [3, 1]]
   */
  gather(rows: FlatInput): RaggedTensor {
    const taken = takeEntries(entriesOf(this), rowNumbers(rows, this.shape[0]!));
    return RaggedTensor.#ofEntries(taken, this.innerShape);
  }

  /**
   * Returns the outermost rows from `start` up to, and without, `end`. Both count from the end where they are negative,
   * and are cut to what is there, as in `Array.prototype.slice` and in slices of Python.
   *
   * @param start - The first row; 0 by default.
   * @param end - The row after the last; by default the end.
   * @returns A new ragged tensor.
   *
   * @example
   * emb.RaggedTensor.fromRows([[3, 1], [], [4]]).slice(1).toRows(); // [[], [4]]
   */
  slice(start = 0, end?: number): RaggedTensor {
    const rows = slicedRows(this.shape[0]!, start, end);
    return RaggedTensor.#ofEntries(takeEntries(entriesOf(this), rows), this.innerShape);
  }

  /**
   * Returns what a mask keeps: rows, where it is a flag for each, or values, where it is a RaggedTensor of flags (0 and 1)
   * with the same splits.
   * Source: tf.ragged.boolean_mask (TensorFlow 2.21).
   *
   * @param mask - Flags.
   * @returns A new ragged tensor.
   * @throws TypeError for what is no mask; ValueError for one of another size, and for other numbers than 0 and 1.
   *
   * @example
   * const rows = emb.RaggedTensor.fromRows([[3, 1], [], [4]]);
   * rows.booleanMask([true, false, true]).toRows(); // [[3, 1], [4]]
   * rows.booleanMask(rows.map((id) => Number(id > 1))).toRows(); // [[3], [], [4]]
   */
  booleanMask(mask: readonly (boolean | number)[] | FlatInput | RaggedTensor): RaggedTensor {
    if (!(mask instanceof RaggedTensor)) return this.gather(keptBy(mask, this.shape[0]!));
    if (!this.hasSplitsOf(mask) || mask.innerShape.length > 0) {
      throw new ValueError('mask', 'the row splits of what is masked', described(String(mask)));
    }
    const { values, size } = entriesOf(this);
    const innermost = this.nestedRowSplits.at(-1)!;
    const kept = keptBy(mask.values, innermost.at(-1)!);
    const lengths = new Int32Array(innermost.length - 1);
    let row = 0;
    for (const place of kept) {
      while (place >= innermost[row + 1]!) row++;
      lengths[row]!++;
    }
    const taken = takeEntries({ splits: [], values, size }, kept);
    const splits = [...this.nestedRowSplits.slice(0, -1), splitsOfLengths(lengths)];
    return RaggedTensor.#ofEntries({ ...taken, splits }, this.innerShape);
  }

  /**
   * Returns a ragged tensor of the same rows, in which `f` has taken the place of each number.
   * Without `dtype` it is int32 where all results are whole, as in `fromRows`.
   * Source: tf.ragged.map_flat_values (TensorFlow 2.21).
   *
   * @param f - Gives a number for a number; `place` is its position among all.
   * @param options - The dtype.
   * @returns A new ragged tensor.
   * @throws TypeError for what is no function, or gives no number.
   *
   * @example
   * emb.RaggedTensor.fromRows([[3, 1], [], [4]]).map((id) => id + 1).toRows(); // [[4, 2], [], [5]]
   */
  map(f: (value: number, place: number) => number, options: FromRowsOptions = {}): RaggedTensor {
    const { dtype } = readOptions<FromRowsOptions>(options, ['dtype'], 'options', 'ragged.map(f, {dtype})');
    if (typeof f !== 'function') throw new ArgumentTypeError('f', 'a function', f);
    const mapped = Array.from(this.values, (value, place) => f(value, place));
    const { values } = readFlat(mapped, 'the result of f', { dtype });
    return new RaggedTensor(values, this.nestedRowSplits, this.innerShape, MADE);
  }

  /** Writes the rows as text to the console, as `tf.Tensor.print` does. */
  print(): void {
    console.log(this.toString());
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
    const lengths = lengthsOfSparse(sparse, 'sparse');
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
    return rowsOf(this) as Row[];
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
    return sparseOf(this);
  }

  /**
   * Whether another ragged tensor has the same rows, whatever they hold.
   *
   * @param other - Another ragged tensor.
   * @returns Whether all row splits are equal.
   * @throws TypeError for anything else.
   */
  hasSplitsOf(other: RaggedTensor): boolean {
    if (!(other instanceof RaggedTensor)) throw new ArgumentTypeError('other', 'a RaggedTensor', other);
    return (
      this.raggedRank === other.raggedRank &&
      this.nestedRowSplits.every((splits, axis) => sameNumbers(splits, other.nestedRowSplits[axis]!))
    );
  }
}

/** What is split into rows. */
function readInner(values: unknown, innerShape: readonly number[] | undefined): RaggedTensor | FlatValues {
  return values instanceof RaggedTensor ? values : readFlat(values, 'values', { innerShape });
}

function valueCount(inner: RaggedTensor | FlatValues): number {
  return inner instanceof RaggedTensor ? inner.rowSplits.length - 1 : inner.count;
}

/** The entries of ragged tensors that can be put together. */
function alike(tensors: readonly RaggedTensor[]): Entries[] {
  if (!Array.isArray(tensors)) throw new ArgumentTypeError('tensors', 'a list of RaggedTensors', tensors);
  if (tensors.length === 0) throw new ValueError('tensors', 'one or more', tensors);
  const list = tensors as readonly unknown[];
  return list.map((each, i): Entries => {
    const first = list[0] as RaggedTensor;
    if (!(each instanceof RaggedTensor)) throw new ArgumentTypeError(`tensors[${i}]`, 'a RaggedTensor', each);
    if (each.dtype !== first.dtype) throw new ArgumentTypeError(`tensors[${i}]`, first.dtype, described(each.dtype));
    const fits = each.raggedRank === first.raggedRank && sameNumbers(each.innerShape, first.innerShape);
    if (!fits) throw new ValueError(`tensors[${i}]`, 'the axes of the first', described(String(each)));
    return entriesOf(each);
  });
}
