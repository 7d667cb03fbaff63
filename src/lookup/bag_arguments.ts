/** Vectors of ids, splits and weights as users pass them to `emb.ops`, made into checked tensors. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import { BACKEND_NAME as TENSORFLOW } from '../backends/tensorflow/node_backend.js';
import type { BagOptionsInput } from './arguments.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { isReadAsync } from '../base/waiting_reads.js';
import { checkNoNaN, toFloat32 } from '../ids/float_values.js';
import { checkRowSplits } from '../ids/row_splits.js';
import { toInt32 } from '../ids/whole_ids.js';

/** A vector: a tensor, a typed array or a flat array of numbers. */
export type VectorInput = tf.Tensor | readonly number[] | ArrayBufferView;

export interface EmbeddingBagOptions extends BagOptionsInput {
  /** One float32 weight per id; gradients flow to it when it is a tensor. Default: none. */
  weights?: VectorInput | null | undefined;
}

/** Fields of the options that both the op and its gradient take. */
export const BAG_FIELDS = ['weights', 'combiner', 'outOfRange', 'maxNorm', 'validate'] as const;

/** Splits that were found right, by their data, and for how many values. */
const rightSplits = new WeakMap<object, number>();

/** Reads splits and checks them; on `tensorflow`, where reading is a copy and ops check splits themselves, once. */
function checkSplits(splits: tf.Tensor1D, values: number, argument: string): void {
  if (rightSplits.get(splits.dataId) === values) return;
  checkRowSplits(splits.dataSync(), values, argument);
  if (tf.getBackend() === TENSORFLOW) rightSplits.set(splits.dataId, values);
}

function isTensor(vector: unknown, argument: string, expected: string): vector is tf.Tensor {
  if (!(vector instanceof tf.Tensor)) return false;
  checkLive(vector as tf.Tensor, argument, expected);
  return true;
}

function toInt32Vector(vector: VectorInput, argument: string): tf.Tensor1D {
  const expected = 'an int32 vector';
  if (!isTensor(vector, argument, expected)) {
    return tf.tensor1d(toInt32(vector, argument), 'int32');
  }
  if (vector.dtype !== 'int32') throw new ArgumentTypeError(argument, expected, vector);
  if (vector.rank !== 1) throw new ValueError(argument, 'a vector (rank 1)', vector);
  return vector as tf.Tensor1D;
}

function toFloat32Vector(vector: VectorInput, length: number, argument: string): tf.Tensor1D {
  const expected = `a float32 vector of length ${length}`;
  const tensor = isTensor(vector, argument, expected) ? vector : tf.tensor1d(toFloat32(vector, argument), 'float32');
  if (tensor.dtype !== 'float32') throw new ArgumentTypeError(argument, expected, vector);
  if (tensor.rank !== 1 || tensor.shape[0] !== length) throw new ValueError(argument, expected, vector);
  return tensor as tf.Tensor1D;
}

/**
 * Checked tensors of a batch. Splits (and weights, for NaN) are read to be checked, except on a GPU. `within`: what comes
 * before the names of the arguments in errors.
 */
export function readBagTensors(
  values: VectorInput,
  rowSplits: VectorInput,
  weights: VectorInput | null | undefined,
  validate: boolean | undefined,
  within = '',
): BagTensors {
  const ids = toInt32Vector(values, `${within}values`);
  const splits = toInt32Vector(rowSplits, `${within}rowSplits`);
  const isWeighted = weights !== null && weights !== undefined;
  const perId = isWeighted ? toFloat32Vector(weights, ids.size, `${within}weights`) : null;
  if (validate === true || !isReadAsync() || !(rowSplits instanceof tf.Tensor)) {
    checkSplits(splits, ids.size, `${within}rowSplits`);
  }
  if (perId !== null && (validate === true || !isReadAsync() || !(weights instanceof tf.Tensor))) {
    checkNoNaN(perId.dataSync(), `${within}weights`);
  }
  return { values: ids, rowSplits: splits, weights: perId };
}

/** Rows of a table, ascending without repeats. Read to be checked, except on a GPU. */
export function checkRowIds(ids: unknown, rows: number, argument: string): tf.Tensor1D {
  const expected = `an int32 tensor of rows in [0, ${rows}), ascending without repeats`;
  if (!isTensor(ids, argument, expected) || ids.dtype !== 'int32') {
    throw new ArgumentTypeError(argument, expected, ids);
  }
  if (ids.rank !== 1) throw new ValueError(argument, expected, ids);
  if (isReadAsync()) return ids as tf.Tensor1D;
  let last = -1;
  ids.dataSync<'int32'>().forEach((id, position) => {
    if (id <= last || id >= rows) throw new ValueError(argument, expected, described(`${id} at position ${position}`));
    last = id;
  });
  return ids as tf.Tensor1D;
}
