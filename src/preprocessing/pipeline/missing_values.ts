/** Values that a column lacks: what they are read as, and how columns do without them. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { CategoryEncoding } from '../category_encoding.js';
import { Discretization } from '../discretization.js';
import { Hashing } from '../hashing.js';
import { IntegerLookup } from '../integer_lookup.js';
import { Normalization } from '../normalization.js';
import { StringLookup } from '../string_lookup.js';
import { TextVectorization } from '../text_vectorization.js';

/** What a missing value is read as: an error, 0 with a column of 1 and 0 beside, or a value. */
export type Missing = 'error' | 'mask' | number | string;

/** What the values of a column are: by a type, or an object of `emb.preprocessing` that takes them. */
export type Taken = 'wholes' | 'numbers' | 'texts' | 'either';

/** What an object takes; one of the caller's own, and a Hashing without a mask, take numbers and texts. */
export function takenBy(does: object): Taken {
  if (does instanceof IntegerLookup) return 'wholes';
  if (does instanceof StringLookup) return does.invert ? 'wholes' : 'texts';
  if (does instanceof TextVectorization) return 'texts';
  // Values are compared with the masked one before they are hashed as texts.
  if (does instanceof Hashing && does.maskValue !== null)
    return typeof does.maskValue === 'number' ? 'wholes' : 'texts';
  const isOfNumbers = [Discretization, CategoryEncoding, Normalization].some((each) => does instanceof each);
  return isOfNumbers ? 'numbers' : 'either';
}

const EXPECTED: Readonly<Record<Taken, string>> = {
  wholes: "'error', 'mask' or a whole number",
  numbers: "'error', 'mask' or a number",
  texts: "'error', 'mask' or a text",
  either: "'error', 'mask', a number or a text",
};

/** What stands for missing values. Throws TypeError for what is none; ValueError for a value that the column cannot hold. */
export function checkMissing(missing: unknown, taken: Taken, path: string): Missing {
  if (missing === 'error' || missing === 'mask') return missing;
  const expected = EXPECTED[taken];
  if (typeof missing !== 'string' && typeof missing !== 'number') throw new ArgumentTypeError(path, expected, missing);
  const isText = typeof missing === 'string';
  const isNumber = !isText && Number.isFinite(Math.fround(missing));
  const fits = {
    wholes: isNumber && Number.isSafeInteger(missing),
    numbers: isNumber,
    texts: isText,
    either: isNumber || isText,
  };
  if (!fits[taken]) throw new ValueError(path, expected, missing);
  return missing;
}

/** The values that are there. */
export function presentValues<T extends ArrayLike<unknown>>(values: T, missing: Uint8Array): T {
  return (values as unknown as unknown[]).filter((_, i) => missing[i] === 0) as unknown as T;
}

/** The splits of the rows of the values that are there. */
export function presentSplits(rowSplits: Int32Array, missing: Uint8Array): Int32Array {
  const splits = new Int32Array(rowSplits.length);
  let left = 0;
  for (let row = 0, place = 0; row + 1 < rowSplits.length; row++) {
    for (; place < rowSplits[row + 1]!; place++) if (missing[place] === 0) left += 1;
    splits[row + 1] = left;
  }
  return splits;
}

/** Rows of one length, those that are missing of zeros or empty texts. */
export function spreadRows<T extends ArrayLike<unknown>>(values: T, width: number, missing: Uint8Array): T {
  const count = missing.length * width;
  const isTyped = ArrayBuffer.isView(values);
  const all = isTyped
    ? new (values.constructor as new (count: number) => Float32Array)(count)
    : new Array<unknown>(count).fill('');
  for (let row = 0, from = 0; row < missing.length; row++) {
    if (missing[row] === 1) continue;
    for (let i = 0; i < width; i++) (all as unknown[])[row * width + i] = values[from++];
  }
  return all as unknown as T;
}

/** Splits of rows of any length, those that are missing of none. */
export function spreadSplits(rowSplits: Int32Array, missing: Uint8Array): Int32Array {
  const splits = new Int32Array(missing.length + 1);
  for (let row = 0, from = 0; row < missing.length; row++) {
    if (missing[row] === 0) from += 1;
    splits[row + 1] = rowSplits[from]!;
  }
  return splits;
}

/** 1 for what is there, 0 for what is missing. */
export function maskOf(count: number, missing: Uint8Array | null): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => 1 - (missing?.[i] ?? 0));
}

/** The name of the column that tells which values were there. */
export const maskName = (name: string): string => `${name}_mask`;
