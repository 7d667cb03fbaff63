/** Entries of ragged axes, taken, masked and put together: what is below each entry goes with it. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import type { SplitRows } from './nested_rows.js';
import { checkRowSplits, checkSize, splitsOfLengths, uniformSplits } from './row_splits.js';
import { isTypedArray, readInt32 } from './values.js';

type Values = Int32Array | Float32Array;

/** Ragged axes, outermost first, maybe none, and the values below them. */
export interface Entries {
  readonly splits: readonly Int32Array[];
  readonly values: Values;
  /** Numbers in one value. */
  readonly size: number;
}

export function entriesOf({ nestedRowSplits: splits, values, innerShape }: SplitRows): Entries {
  return { splits, values, size: innerShape.reduce((product, length) => product * length, 1) };
}

function entryCount({ splits, values, size }: Entries): number {
  const [outer] = splits;
  if (outer !== undefined) return outer.length - 1;
  return size === 0 ? 0 : values.length / size;
}

/** The numbers from `starts[i]` on, `lengths[i]` of them, one after the other. */
function ranges(starts: Int32Array, lengths: Int32Array): Int32Array {
  const places = new Int32Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  starts.forEach((start, i) => {
    for (let k = 0; k < lengths[i]!; k++) places[at++] = start + k;
  });
  return places;
}

/** The entries from `starts[i]` on, `lengths[i]` of them, one after the other. */
function takeRanges(entries: Entries, starts: Int32Array, lengths: Int32Array): Entries {
  const { splits, values, size } = entries;
  if (splits.length > 0) return takeEntries(entries, ranges(starts, lengths));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const taken = new (values.constructor as Int32ArrayConstructor)(total * size);
  let at = 0;
  starts.forEach((start, i) => {
    const part = values.subarray(start * size, (start + lengths[i]!) * size);
    taken.set(part, at);
    at += part.length;
  });
  return { splits, values: taken, size };
}

/** The entries of these numbers, in their order; each may come several times. */
export function takeEntries(entries: Entries, order: Int32Array): Entries {
  const [outer, ...below] = entries.splits;
  if (outer === undefined) return takeRanges(entries, order, new Int32Array(order.length).fill(1));
  const starts = order.map((row) => outer[row]!);
  const lengths = order.map((row) => outer[row + 1]! - outer[row]!);
  const inner = takeRanges({ ...entries, splits: below }, starts, lengths);
  return { ...inner, splits: [splitsOfLengths(lengths), ...inner.splits] };
}

/** All entries one after the other. The parts have the same axes and the same kind of values. */
export function joinEntries(parts: readonly Entries[]): Entries {
  const { splits, values, size } = parts[0]!;
  if (splits.length === 0) {
    const total = parts.reduce((sum, each) => sum + each.values.length, 0);
    const joined = new (values.constructor as Int32ArrayConstructor)(total);
    let at = 0;
    for (const each of parts) {
      joined.set(each.values, at);
      at += each.values.length;
    }
    return { splits: [], values: joined, size };
  }
  const outer = [0];
  for (const { splits: own } of parts) {
    const start = outer.at(-1)!;
    for (const split of own[0]!.subarray(1)) outer.push(start + split);
  }
  const inner = joinEntries(parts.map((each) => ({ ...each, splits: each.splits.slice(1) })));
  return { ...inner, splits: [Int32Array.from(outer), ...inner.splits] };
}

/** The rows of all parts side by side: row r is that of the first part, then that of the second, and so on. */
export function joinRows(parts: readonly Entries[]): Entries {
  const rows = entryCount(parts[0]!);
  const inner = joinEntries(parts.map((each) => ({ ...each, splits: each.splits.slice(1) })));
  const lengths = new Int32Array(rows);
  const starts: number[] = [];
  const counts: number[] = [];
  const firsts = parts.map(() => 0);
  parts.forEach(({ splits }, i) => (firsts[i + 1] = firsts[i]! + splits[0]!.at(-1)!));
  for (let row = 0; row < rows; row++) {
    parts.forEach(({ splits: [outer] }, i) => {
      const length = outer![row + 1]! - outer![row]!;
      starts.push(firsts[i]! + outer![row]!);
      counts.push(length);
      lengths[row]! += length;
    });
  }
  const taken = takeRanges(inner, Int32Array.from(starts), Int32Array.from(counts));
  return { ...taken, splits: [splitsOfLengths(lengths), ...taken.splits] };
}

/** The numbers of entries that a mask keeps; of another length it is refused. */
export function keptBy(mask: unknown, count: number): Int32Array {
  const isFlags = Array.isArray(mask) || isTypedArray(mask) || mask instanceof tf.Tensor;
  if (!isFlags) throw new ArgumentTypeError('mask', 'a flag for each row, or a RaggedTensor of flags', mask);
  const flags = mask instanceof tf.Tensor ? mask.dataSync() : (mask as ArrayLike<unknown>);
  if (mask instanceof tf.Tensor && mask.rank !== 1) throw new ValueError('mask', 'a vector', mask);
  if (flags.length !== count) throw new ValueError('mask', `${count} flags`, described(`${flags.length}`));
  const kept: number[] = [];
  Array.from(flags).forEach((flag, i) => {
    const isFlag = flag === true || flag === false || flag === 1 || flag === 0;
    if (!isFlag) throw new ValueError('mask', 'true or false (1 or 0)', described(`${String(flag)} at position ${i}`));
    if (flag === true || flag === 1) kept.push(i);
  });
  return Int32Array.from(kept);
}

/** Numbers of rows, each in [0, rows). */
export function rowNumbers(value: unknown, rows: number): Int32Array {
  const read = readInt32(value, 'rows');
  const stray = read.findIndex((row) => row < 0 || row >= rows);
  if (stray >= 0) {
    throw new ValueError('rows', `rows in [0, ${rows})`, described(`${read[stray]} at position ${stray}`));
  }
  return read;
}

/** The numbers of the rows from `start` up to `end`, which count from the end where they are negative. */
export function slicedRows(rows: number, start: number, end: number | undefined): Int32Array {
  for (const [argument, value] of Object.entries(end === undefined ? { start } : { start, end })) {
    if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a whole number', value);
    if (!Number.isSafeInteger(value)) throw new ValueError(argument, 'a whole number', value);
  }
  return Int32Array.from({ length: rows }, (_, row) => row).slice(start, end);
}

/** Splits of rows by the row of each value. */
export function splitsOfRowIds(given: unknown, values: number, rows: unknown): Int32Array {
  const ids = readInt32(given, 'valueRowIds');
  if (ids.length !== values) {
    throw new ValueError('valueRowIds', `a row for each of ${values} values`, described(`${ids.length}`));
  }
  ids.forEach((row, i) => {
    const before = i === 0 ? 0 : ids[i - 1]!;
    if (row >= before) return;
    const received = described(`${row} after ${before} at position ${i}`);
    throw new ValueError('valueRowIds', 'rows from 0 on that never fall', received);
  });
  const least = ids.length === 0 ? 0 : ids.at(-1)! + 1;
  const count = rows === undefined || rows === null ? least : checkSize(rows, 'rows');
  if (count < least) throw new ValueError('rows', `${least} or more, as valueRowIds says`, count);
  const lengths = new Int32Array(count);
  for (const row of ids) lengths[row]!++;
  return splitsOfLengths(lengths);
}

/** Splits of rows by where each begins. */
export function splitsOfStarts(given: unknown, values: number): Int32Array {
  const starts = readInt32(given, 'rowStarts');
  const splits = new Int32Array(starts.length + 1).fill(values);
  splits.set(starts);
  checkRowSplits(splits, values, 'rowStarts');
  return splits;
}

/** Splits of rows by where each ends. */
export function splitsOfLimits(given: unknown, values: number): Int32Array {
  const limits = readInt32(given, 'rowLimits');
  const splits = new Int32Array(limits.length + 1);
  splits.set(limits, 1);
  checkRowSplits(splits, values, 'rowLimits');
  return splits;
}

/** Splits of rows of one length. */
export function splitsOfOneLength(given: unknown, values: number, rows: unknown): Int32Array {
  const length = checkSize(given, 'rowLength');
  const known = rows === undefined || rows === null ? null : checkSize(rows, 'rows');
  const found = known ?? (length === 0 ? 0 : Math.floor(values / length));
  if (found * length === values) return uniformSplits(found, length);
  const expected = `rows of one length that hold ${values} values`;
  throw new ValueError('rowLength', expected, described(`${found} of ${length}`));
}
