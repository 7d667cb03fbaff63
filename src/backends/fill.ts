/** How a table begins, as plain data: each value depends on the seed, its row and its column alone. */

import { ValueError, described } from '../base/errors.js';
import { randomKey, randomWords, type FilledPart, type RandomKey } from './counter_random.js';
import { quantile, quantileTable, upperTail } from './normal_quantile.js';

/** Seeds are whole numbers from 0 to 2^53 - 1. Bounds, mean and deviation are float64, values are rounded to float32. */
export type Fill =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number; readonly seed: number }
  | { readonly kind: 'normal'; readonly mean: number; readonly deviation: number; readonly seed: number }
  /** Drawn again where a value lies more than two deviations from the mean. */
  | { readonly kind: 'truncatedNormal'; readonly mean: number; readonly deviation: number; readonly seed: number };

/** Words that are made at once: they stay in the first cache between being made and being used. */
const AT_ONCE = 4096;
const PROGRESS_EVERY = 2 ** 20;

/** Turns the words into values, one for one. */
type Shape = (words: Int32Array, values: Float32Array) => void;

/**
 * Writes the values of a part into `target`, from its start: the same to the bit however a table is cut, and in every
 * engine. `progress` is called about every million values.
 */
export function fillPart(target: Float32Array, part: FilledPart, fill: Fill, progress?: () => void): void {
  const { rows, columns } = part;
  if (target.length < rows * columns) {
    throw new ValueError('target', `room for ${rows} x ${columns} values`, described(`${target.length}`));
  }
  const fillPiece = pieceFiller(fill, Math.min(AT_ONCE, rows * columns));
  // Whole rows, or pieces of one row where it is long: either lies in one piece in the target.
  const wide = Math.min(columns, AT_ONCE);
  const high = Math.max(1, Math.floor(AT_ONCE / Math.max(1, wide)));
  let [at, reported] = [0, 0];
  for (let row = 0; row < rows; row += high) {
    for (let column = 0; column < columns; column += wide) {
      const piece = {
        firstRow: part.firstRow + part.rowStep * row,
        rowStep: part.rowStep,
        rows: Math.min(high, rows - row),
        firstColumn: part.firstColumn + column,
        columns: Math.min(wide, columns - column),
      };
      const length = piece.rows * piece.columns;
      fillPiece(target.subarray(at, at + length), piece);
      at += length;
      if (at - reported >= PROGRESS_EVERY) {
        reported = at;
        progress?.();
      }
    }
  }
}

/** Writes the values of single rows into `values`, each by a key of its own, which takes the place of the seed. */
export function rowFiller(fill: Fill, columns: number): (key: RandomKey, values: Float32Array) => void {
  if (fill.kind === 'constant') return (_, values) => values.fill(fill.value);
  const words = new Int32Array(2 * columns + 2);
  const shape = fill.kind === 'uniform' ? uniform(fill) : normal(fill);
  const row = { firstRow: 0, rowStep: 1, rows: 1, firstColumn: 0, columns };
  return (key, values) => {
    randomWords(words, key, row);
    shape(words, values);
  };
}

/** In the order of te_fill_kind in custom-ops/kernels/embedding.h. */
const KINDS = ['constant', 'uniform', 'normal', 'truncatedNormal'] as const satisfies readonly Fill['kind'][];

/** What the op EmbeddingFill takes of a fill, beside shape and part. */
export interface FillInputs {
  readonly kind: number;
  /** The seed, low and high word. */
  readonly key: Int32Array;
  /** The value; the lowest value and the scale of words; or mean, deviation and, of a truncated one, the tail. */
  readonly numbers: Float64Array;
  /** Of normal values, else empty. */
  readonly quantiles: Float64Array;
}

/**
 * A fill as the op EmbeddingFill takes it, which writes what `fillPart` writes, to the bit. What is computed once is
 * computed here.
 */
export function fillInputs(fill: Fill): FillInputs {
  const kind = KINDS.indexOf(fill.kind);
  const quantiles = new Float64Array(0);
  if (fill.kind === 'constant') {
    return { kind, key: new Int32Array(2), numbers: Float64Array.of(fill.value, 0, 0), quantiles };
  }
  const { low, high } = randomKey(fill.seed);
  const key = Int32Array.of(low, high);
  if (fill.kind === 'uniform') {
    const numbers = uniformNumbers(fill);
    if (numbers === null) return fillInputs({ kind: 'constant', value: fill.min });
    return { kind, key, numbers: Float64Array.of(numbers.lowest, numbers.scale, 0), quantiles };
  }
  const tail = fill.kind === 'normal' ? 0 : cutTail();
  return { kind, key, numbers: Float64Array.of(fill.mean, fill.deviation, tail), quantiles: quantileTable() };
}

function pieceFiller(fill: Fill, longest: number): (values: Float32Array, piece: FilledPart) => void {
  if (fill.kind === 'constant') return (values) => values.fill(fill.value);
  const key = randomKey(fill.seed);
  const words = new Int32Array(2 * longest);
  const shape = fill.kind === 'uniform' ? uniform(fill) : normal(fill);
  return (values, piece) => {
    randomWords(words, key, piece);
    shape(words, values);
  };
}

const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

/** The largest float32 below a number. */
function float32Below(x: number): number {
  float[0] = x;
  if (float[0]! < x) return float[0]!;
  if (float[0] === 0) bits[0] = -0x7fffffff;
  else bits[0]! += float[0]! > 0 ? -1 : 1;
  return float[0]!;
}

/**
 * Even between the lowest and the highest float32 of the range, so that rounding never leaves it; null where the range
 * holds no float32, or is one number.
 */
function uniformNumbers({ min, max }: Fill & { kind: 'uniform' }): { lowest: number; scale: number } | null {
  const rounded = Math.fround(min);
  const lowest = rounded < min ? -float32Below(-min) : rounded;
  const highest = float32Below(max);
  return highest < lowest ? null : { lowest, scale: (highest - lowest) / (2 ** 32 - 1) };
}

function uniform(fill: Fill & { kind: 'uniform' }): Shape {
  const numbers = uniformNumbers(fill);
  if (numbers === null) return (_, values) => values.fill(Math.fround(fill.min));
  const { lowest, scale } = numbers;
  return (words, values) => shapeUniform(words, values, lowest, scale);
}

// The loops are functions of their own: what a closure holds is fetched anew, and unboxed, for each value.

function shapeUniform(words: Int32Array, values: Float32Array, lowest: number, scale: number): void {
  const { length } = values;
  for (let i = 0; i < length; i++) values[i] = lowest + (words[i]! >>> 0) * scale;
}

/** Values are at most this many deviations from the mean, a little less than two, so that rounding stays below. */
const TRUNCATED_AT = 2 - 2 ** -22;

/** Of 2^32 distances from the mean those that are cut off, in units of half of one. */
function cutTail(): number {
  return Math.ceil(upperTail(TRUNCATED_AT) * 2 ** 33);
}

/**
 * The sign comes from a word's first bit, the distance from the mean from the others, as a quantile. What would be
 * drawn again lies in the tails, so that a truncated distribution is the quantiles of probabilities without them.
 */
function normal({ kind, mean, deviation }: Fill & { kind: 'normal' | 'truncatedNormal' }): Shape {
  const table = quantileTable();
  const signed = Float64Array.of(deviation, -deviation);
  if (kind === 'normal') return (words, values) => shapeNormal(words, values, mean, signed, table);
  const tail = cutTail();
  return (words, values) => shapeTruncated(words, values, mean, signed, table, tail);
}

function shapeNormal(
  words: Int32Array,
  values: Float32Array,
  mean: number,
  signed: Float64Array,
  table: Float64Array,
): void {
  const { length } = values;
  for (let i = 0; i < length; i++) {
    const word = words[i]!;
    values[i] = mean + signed[word >>> 31]! * quantile(table, ((word ^ (word >> 31)) << 1) | 1);
  }
}

function shapeTruncated(
  words: Int32Array,
  values: Float32Array,
  mean: number,
  signed: Float64Array,
  table: Float64Array,
  tail: number,
): void {
  const kept = 1 - tail / 2 ** 32;
  const { length } = values;
  for (let i = 0; i < length; i++) {
    const word = words[i]!;
    const distance = (((word ^ (word >> 31)) << 1) | 1) >>> 0;
    values[i] = mean + signed[word >>> 31]! * quantile(table, tail + distance * kept);
  }
}
