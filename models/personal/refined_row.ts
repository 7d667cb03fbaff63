/** A few steps from a row that was folded in, by the loss that the items were trained with. */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../random.js';

const STEPS = 10;
const RATE = 3;
/** That of the training. */
const TEMPERATURE = 0.1;
const NEGATIVES = 2048;
const SEED = 3;

/** Rows of frozen items as numbers, [items, dim]. */
function rowsOf(table: tf.layers.Layer, ids: Int32Array): tf.Tensor2D {
  return tf.tidy(() => {
    const rows = table.apply(tf.tensor2d(ids, [ids.length, 1], 'int32')) as tf.Tensor;
    return rows.reshape([ids.length, -1]);
  });
}

/** Items that nobody chose, as far as is known: the same for every visitor. The caller disposes them. */
export function negativesOf(table: tf.layers.Layer): tf.Tensor2D {
  const random = new Random(SEED);
  const { inputDim: numItems } = table.getConfig() as { inputDim: number };
  return rowsOf(
    table,
    Int32Array.from({ length: NEGATIVES }, () => random.below(numItems)),
  );
}

/**
 * The row of a visitor after a few steps, [dim], of length 1: cosines with what was clicked grow, those with the negatives
 * shrink. Items are frozen, so a step is two products of matrices.
 */
export function refinedRow(
  row: tf.Tensor1D,
  table: tf.layers.Layer,
  ids: ArrayLike<number>,
  negatives: tf.Tensor2D,
): tf.Tensor1D {
  return tf.tidy(() => {
    const own = rowsOf(table, Int32Array.from(ids));
    const unit = (each: tf.Tensor): tf.Tensor => each.div(each.norm().add(1e-12));
    const loss = (each: tf.Tensor): tf.Scalar => {
      const query = unit(each).div(TEMPERATURE).reshape<tf.Tensor2D>([-1, 1]);
      const others = tf.log(tf.exp(tf.matMul(negatives, query)).sum());
      return tf.softplus(others.sub(tf.matMul(own, query))).mean();
    };
    const gradient = tf.grad(loss as (each: tf.Tensor) => tf.Tensor);
    let now = unit(row);
    for (let step = 0; step < STEPS; step++) {
      // Steps shrink to 0, so that the last ones only settle.
      const rate = RATE * TEMPERATURE * (1 - step / STEPS);
      now = unit(now.sub(gradient(now).mul(rate)));
    }
    return now as tf.Tensor1D;
  });
}
