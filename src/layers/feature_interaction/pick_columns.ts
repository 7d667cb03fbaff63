/** Columns of a matrix, differentiable any number of times on every backend. */
import * as tf from '@tensorflow/tfjs';

/** Which columns to take, each at most once, out of how many. */
export interface ColumnChoice {
  readonly columns: Int32Array;
  readonly total: number;
}

/**
 * Returns the chosen columns of [rows, total] as [rows, columns.length]. The gradient of tf.gather is missing on some
 * backends; here it is the other function of this file, a gather too.
 */
export function pickColumns(matrix: tf.Tensor2D, choice: ColumnChoice): tf.Tensor2D {
  const op = tf.customGrad((x) => ({
    value: tf.gather(x as tf.Tensor2D, tf.tensor1d(choice.columns, 'int32'), 1),
    gradFunc: (dy: tf.Tensor) => spreadColumns(dy as tf.Tensor2D, choice),
  }));
  return op(matrix) as tf.Tensor2D;
}

/** The reverse: columns put back to their places in [rows, total], zeros elsewhere. */
function spreadColumns(matrix: tf.Tensor2D, choice: ColumnChoice): tf.Tensor2D {
  const { columns, total } = choice;
  const sources = new Int32Array(total).fill(columns.length);
  columns.forEach((column, i) => (sources[column] = i));
  const op = tf.customGrad((x) => {
    const padded = tf.concat([x as tf.Tensor2D, tf.zeros([(x as tf.Tensor2D).shape[0], 1])], 1);
    return {
      value: tf.gather(padded, tf.tensor1d(sources, 'int32'), 1),
      gradFunc: (dy: tf.Tensor) => pickColumns(dy as tf.Tensor2D, choice),
    };
  });
  return op(matrix) as tf.Tensor2D;
}
