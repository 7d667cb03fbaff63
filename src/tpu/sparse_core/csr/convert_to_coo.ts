/** Ids of one feature as triples of sample, id and gain. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readOptions } from '../../../base/options.js';
import { checkNoNaN, toFloat32 } from '../../../ids/float_values.js';
import { readNestedRows } from '../../../ids/nested_rows.js';
import { checkRowSplits, sharedUniformSplits } from '../../../ids/row_splits.js';
import { isTypedArray, readTensor, type FlatInput } from '../../../ids/values.js';
import { toInt32 } from '../../../ids/whole_ids.js';
import { cooEntries } from '../../../backends/reference/partition_csr.js';
import { WEIGHING, type Combiner } from '../../../base/types.js';
import { rowSplitsOf } from './feature_input.js';
import { textOf, wholeNumber } from '../numbers.js';

export interface ConvertToCooArgs {
  /** Indices [nnz, rank] of sparse ids, the sample first in each; row splits [sampleCount + 1] of ragged ones, empty for dense ones. */
  readonly indicesOrRowSplits: FlatInput | readonly (readonly number[])[];
  readonly values: FlatInput;
  /** One for each id, or one number for all of them. */
  readonly weights: FlatInput | number;
  readonly sampleCount: number;
  readonly combiner: Combiner;
}

export interface Coo {
  readonly rowIds: Int32Array;
  readonly colIds: Int32Array;
  readonly gains: Float32Array;
}

const FIELDS = ['indicesOrRowSplits', 'values', 'weights', 'sampleCount', 'combiner'] as const;

/** Numbers with the shape that they came in. */
function shaped(value: unknown, argument: string): { numbers: unknown; shape: readonly number[] } {
  if (value instanceof tf.Tensor) return { numbers: readTensor(value, argument), shape: value.shape };
  if (isTypedArray(value)) return { numbers: value, shape: [value.length] };
  const { flat, shape } = readNestedRows(value, argument);
  if (shape === null) throw new ValueError(argument, 'arrays of one length', described('uneven ones'));
  return { numbers: flat, shape };
}

function vector(value: unknown, argument: string): unknown {
  const { numbers, shape } = shaped(value, argument);
  if (shape.length === 1) return numbers;
  throw new ValueError(argument, 'a vector (rank 1)', described(`${shape.length} axes`));
}

/** Known combiners only: also for callers without types. */
export function readCombiner(value: unknown, argument: string): Combiner {
  const combiner = WEIGHING.find((each) => each === textOf(value, argument));
  if (combiner === undefined) throw new ValueError(argument, `one of ${WEIGHING.join(', ')}`, value);
  return combiner;
}

function splitsOf(given: unknown, count: number, samples: number): Int32Array {
  const name = 'indicesOrRowSplits';
  const { numbers, shape } = shaped(given, name);
  const flat = toInt32(numbers, name);
  if (flat.length === 0 && samples + 1 !== 0 && shape.length < 2) {
    if (count === samples) return sharedUniformSplits(samples, 1);
    throw new ValueError('values', `one id for each of ${samples} samples`, described(`${count} ids`));
  }
  if (shape.length === 2) {
    if (shape[0] !== count) throw new ValueError(name, `one row for each of ${count} ids`, described(`${shape[0]}`));
    return rowSplitsOf(flat, shape[1]!, count, [samples], name);
  }
  if (shape.length > 2) throw new ValueError(name, 'at most two axes', described(`${shape.length}`));
  if (flat.length !== samples + 1) {
    throw new ValueError(name, `${samples + 1} row splits, of ${samples} samples`, described(`${flat.length}`));
  }
  checkRowSplits(flat, count, name);
  return flat;
}

/**
 * Returns the sample (`rowIds`), the id (`colIds`) and the gain of each id, in their order.
 *
 * The gain is the weight, divided by the sum of the sample's weights for mean and by the root of the sum of their
 * squares for sqrtn; 0 where that sum is 0. An id that repeats the one before it in its sample adds its weight to it and
 * has no triple of its own. All numbers are float32.
 * Source: the op ConvertToCooTensor of TensorFlow 2.20.
 *
 * @param args - The ids of one feature and how they are combined; see `ConvertToCooArgs`.
 * @returns Three arrays of one length.
 * @throws ValueError for an unknown combiner, for other numbers of weights, of dense ids or of row splits than there
 * are ids and samples, for values that are no vector, and for sparse ids whose rows are not in ascending order.
 *
 * @example
 * const indicesOrRowSplits = [0, 2, 3];
 * emb.tpu.convertToCoo({indicesOrRowSplits, values: [5, 6, 5], weights: 1, sampleCount: 2, combiner: 'mean'}).gains;
 * // Float32Array [0.5, 0.5, 1]
 */
export function convertToCoo(args: ConvertToCooArgs): Coo {
  const given = readOptions<ConvertToCooArgs>(args, FIELDS, 'args');
  const combiner = readCombiner(given.combiner, 'combiner');
  const samples = wholeNumber(given.sampleCount, 'sampleCount', 0, 2 ** 31 - 1);
  const values = toInt32(vector(given.values, 'values'), 'values');
  const isScalar =
    typeof given.weights === 'number' || (given.weights instanceof tf.Tensor && given.weights.rank === 0);
  const read = toFloat32(isScalar ? [scalarOf(given.weights)] : vector(given.weights, 'weights'), 'weights');
  checkNoNaN(read, 'weights');
  const weights = isScalar ? new Float32Array(values.length).fill(read[0]!) : read;
  if (weights.length !== values.length) {
    throw new ValueError('weights', `one for each of ${values.length} ids`, described(`${weights.length} weights`));
  }
  const rowSplits = splitsOf(given.indicesOrRowSplits, values.length, samples);
  const entries = cooEntries({ values, rowSplits, weights }, combiner);
  return {
    rowIds: Int32Array.from(entries, ({ row }) => row),
    colIds: Int32Array.from(entries, ({ id }) => id),
    gains: Float32Array.from(entries, ({ gain }) => gain),
  };
}

function scalarOf(weights: unknown): number {
  return weights instanceof tf.Tensor ? weights.dataSync()[0]! : (weights as number);
}
