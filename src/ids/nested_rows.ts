/** Nested arrays of numbers, even or uneven, to any depth. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { splitsOfLengths } from './row_splits.js';

/** A number, or arrays of them to any depth. */
export type NestedRows = number | readonly NestedRows[];

/** The content of nested arrays, row-major. */
export interface FlatRows {
  /** The scalars in order. */
  readonly flat: readonly number[];
  /** How many arrays deep the scalars lie: 0 for a plain number. */
  readonly depth: number;
  /** One per axis but the outermost. */
  readonly nestedRowSplits: readonly Int32Array[];
  /** The shape where every axis is even, else null. */
  readonly shape: readonly number[] | null;
}

interface Reader {
  readonly argument: string;
  readonly flat: number[];
  /** lengths[d] holds the length of each array that lies d arrays deep. */
  readonly lengths: number[][];
  /** Depth of the scalars, once one was seen. */
  depth: number | null;
}

/** Deeper than anyone means; also ends arrays that hold themselves. */
const DEEPEST = 32;

function readItem(item: unknown, depth: number, reader: Reader): void {
  if (Array.isArray(item)) {
    if (depth >= DEEPEST) {
      throw new ValueError(reader.argument, `arrays at most ${DEEPEST} deep`, described('deeper ones'));
    }
    const { depth: scalars } = reader;
    // An empty array may lie anywhere above the scalars, so only what it holds is checked.
    if (scalars !== null && depth >= scalars) throw mixed(reader, 'an array beside numbers');
    (reader.lengths[depth] ??= []).push(item.length);
    for (let i = 0; i < item.length; i++) readItem(item[i], depth + 1, reader);
    return;
  }
  if (typeof item !== 'number') {
    const received = described(item === null ? 'null' : ArrayBuffer.isView(item) ? item.constructor.name : typeof item);
    throw new ArgumentTypeError(reader.argument, 'nested arrays of numbers', received);
  }
  reader.depth ??= depth;
  if (reader.depth !== depth || reader.lengths.length > depth) throw mixed(reader, 'a number beside arrays');
  reader.flat.push(item);
}

function mixed(reader: Reader, found: string): ValueError {
  return new ValueError(reader.argument, 'numbers that all lie equally deep', described(found));
}

/**
 * Returns the scalars of nested arrays with the splits of every axis. Nothing is truncated: uneven rows stay uneven.
 *
 * @throws TypeError for anything but arrays and numbers; ValueError where numbers lie at different depths.
 */
export function readNestedRows(rows: unknown, argument: string): FlatRows {
  const reader: Reader = { argument, flat: [], lengths: [], depth: null };
  readItem(rows, 0, reader);
  const { flat, lengths } = reader;
  const depth = reader.depth ?? lengths.length;
  const splits = lengths.map((each) => splitsOfLengths(each, argument));
  return { flat, depth, nestedRowSplits: splits.slice(1), shape: evenShape(lengths) };
}

/** The shape where all arrays of each depth have one length. */
function evenShape(lengths: readonly (readonly number[])[]): number[] | null {
  const shape: number[] = [];
  for (const each of lengths) {
    const [first = 0] = each;
    if (each.some((length) => length !== first)) return null;
    shape.push(first);
  }
  return shape;
}

/** Rows of any depth as flat values and splits. */
export interface SplitRows {
  readonly values: Int32Array | Float32Array;
  readonly nestedRowSplits: readonly Int32Array[];
  readonly innerShape: readonly number[];
}

/** Nested arrays: one for each ragged and each inner axis. */
export function rowsOf({ values, nestedRowSplits, innerShape }: SplitRows): NestedRows[] {
  const size = innerShape.reduce((product, length) => product * length, 1);
  const count = nestedRowSplits.at(-1)!.at(-1)!;
  let entries: NestedRows[] = [];
  for (let i = 0; i < count; i++) entries.push(nest(values.subarray(i * size, (i + 1) * size), innerShape));
  for (const splits of [...nestedRowSplits].reverse()) {
    const rows: NestedRows[] = [];
    for (let row = 0; row + 1 < splits.length; row++) rows.push(entries.slice(splits[row], splits[row + 1]));
    entries = rows;
  }
  return entries;
}

function nest(values: Int32Array | Float32Array, shape: readonly number[]): NestedRows {
  if (shape.length === 0) return values[0]!;
  const [length, ...below] = shape as [number, ...number[]];
  const size = below.reduce((product, each) => product * each, 1);
  return Array.from({ length }, (_, i) => nest(values.subarray(i * size, (i + 1) * size), below));
}
