/** Flat values beside the splits of their rows, as callers pass them: {values, rowSplits}, or two tensors in a list. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError } from '../base/errors.js';
import { isRecord } from '../base/options.js';
import { checkRowSplits } from './row_splits.js';
import { vectorLength } from './sparse_values.js';
import { isTypedArray, readInt32, type FlatInput } from './values.js';

/** Ids or weights with the splits of their rows; of tensors a list [values, rowSplits] will do. */
export type RowPairInput =
  { readonly values: FlatInput; readonly rowSplits: FlatInput } | readonly [values: tf.Tensor, rowSplits: tf.Tensor];

/** A pair whose splits were read and fit the number of values. */
export interface RowPair {
  /** As they came. */
  readonly values: unknown;
  /** What the values are called in errors. */
  readonly valuesName: string;
  readonly count: number;
  readonly rowSplits: Int32Array;
}

/** What to do with typed arrays in a list, which may be two rows or a pair. */
export const PAIR_ADVICE =
  'Write {values, rowSplits} for flat values and the splits of their rows, and nested arrays ' +
  'or RaggedTensor.fromRows([...]) for rows.';

function isTensor(value: unknown): value is tf.Tensor {
  return value instanceof tf.Tensor;
}

/**
 * The pair, or null for what is none. Throws TypeError for lists that hold typed arrays or tensors and are no pair;
 * ValueError for splits that do not fit.
 */
export function readRowPair(value: unknown, argument: string, expected: string): RowPair | null {
  if (isRecord(value) && 'rowSplits' in value) {
    return checkPair(value['values'], value['rowSplits'], [`${argument}.values`, `${argument}.rowSplits`]);
  }
  if (!Array.isArray(value) || !value.some((item) => isTensor(item) || isTypedArray(item))) return null;
  const list = value as readonly unknown[];
  if (list.length !== 2 || !list.every(isTensor)) throw new ArgumentTypeError(argument, expected, list, PAIR_ADVICE);
  return checkPair(list[0], list[1], [`${argument}[0]`, `${argument}[1]`]);
}

function checkPair(values: unknown, splits: unknown, [valuesName, splitsName]: [string, string]): RowPair {
  const count = vectorLength(values, valuesName);
  const rowSplits = readInt32(splits, splitsName);
  checkRowSplits(rowSplits, count, splitsName);
  return { values, valuesName, count, rowSplits };
}
