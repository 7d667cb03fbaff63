/** Values for a table that the user brings along. */
import type { TableForm } from '../backends/table.js';
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { toFloat32 } from '../ids/float_values.js';

/** A [rows, dim] table: a float32 tensor, nested arrays, or a flat typed array. */
export type TableValues = tf.Tensor | readonly (readonly number[])[] | ArrayBufferView;

const EXPECTED = 'a list of one table: a float32 tensor, nested arrays or a flat typed array';

/** The table in a list of one, as `weights` and `setWeights` take it; `form`: its words are taken too. */
export function readTableValues(
  weights: unknown,
  rows: number,
  dim: number,
  form: TableForm | null = null,
): TableValues {
  if (!Array.isArray(weights)) throw new ArgumentTypeError('weights', EXPECTED, weights);
  if (weights.length !== 1) throw new ValueError('weights', EXPECTED, described(`a list of ${weights.length}`));
  const table = weights[0] as unknown;
  if (table instanceof tf.Tensor) {
    const { dtype } = table as tf.Tensor;
    if (form === null || dtype !== form.codec.dtype) return checkTensor(table, rows, dim);
    return checkTensor(table, rows, form.codec.words(dim), dtype);
  }
  if (Array.isArray(table)) return flatten(table, rows, dim);
  if (!ArrayBuffer.isView(table)) throw new ArgumentTypeError('weights', EXPECTED, table);
  // A copy: the table is trained in place, and the array stays the user's.
  const flat = toFloat32(table, 'weights').slice();
  if (flat.length !== rows * dim) {
    throw new ValueError('weights', `${rows} x ${dim} = ${rows * dim} numbers`, described(`${flat.length}`));
  }
  return flat;
}

export function checkTensor(
  table: tf.Tensor,
  rows: number,
  dim: number,
  dtype = 'float32',
  argument = 'weights',
): tf.Tensor {
  const expected = `a ${dtype} tensor of shape [${rows}, ${dim}]`;
  if (table.dtype !== dtype) throw new ArgumentTypeError(argument, expected, table);
  if (table.rank !== 2 || table.shape[0] !== rows || table.shape[1] !== dim) {
    throw new ValueError(argument, expected, table);
  }
  checkLive(table, argument, expected);
  return table;
}

function flatten(table: unknown[], rows: number, dim: number): Float32Array {
  const expected = `${rows} rows of ${dim} numbers`;
  if (table.length !== rows) throw new ValueError('weights', expected, described(`${table.length} rows`));
  const flat = new Float32Array(rows * dim);
  // Not by `forEach`, which leaves holes out.
  for (let i = 0; i < rows; i++) {
    const row = table[i];
    if (!Array.isArray(row) && !ArrayBuffer.isView(row)) throw new ArgumentTypeError('weights', expected, row);
    const numbers = toFloat32(row, 'weights');
    if (numbers.length !== dim) {
      throw new ValueError('weights', expected, described(`${numbers.length} numbers in row ${i}`));
    }
    flat.set(numbers, i * dim);
  }
  return flat;
}

/** A new tensor of these values. */
export function tableTensor(values: TableValues, rows: number, dim: number): tf.Tensor {
  return values instanceof tf.Tensor ? values.clone() : tf.tensor2d(values as Float32Array, [rows, dim], 'float32');
}
