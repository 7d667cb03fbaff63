/** The optimizers on matrices of rows, from stock ops. Call inside a tidy. */
import * as tf from '@tensorflow/tfjs';
import type { OptimizerName } from '../../base/types.js';
import type { Hyper } from '../hyper.js';

/** Rows of a table with the same rows of its slots. */
export interface Rows {
  readonly table: tf.Tensor2D;
  readonly slots: readonly tf.Tensor2D[]; // [n, dim], or [n, 1] for row-wise Adagrad
}

type RowsUpdate = (rows: Rows, g: tf.Tensor2D, hyper: Hyper) => Rows;

/** w - rate * step */
function stepped(table: tf.Tensor2D, rate: number, step: tf.Tensor): tf.Tensor2D {
  return table.sub(step.mul(rate));
}

/** Powers that most people use are roots, which are exact where pow is not. */
function power(base: tf.Tensor2D, exponent: number): tf.Tensor2D {
  if (exponent === 0.5) return base.sqrt();
  if (exponent === 1) return base;
  return base.pow(exponent);
}

function sgd({ table, slots }: Rows, g: tf.Tensor2D, hyper: Hyper): Rows {
  return { table: stepped(table, hyper.learningRate, g), slots };
}

function adagrad({ table, slots }: Rows, g: tf.Tensor2D, hyper: Hyper): Rows {
  const accumulators = slots[0]!.add<tf.Tensor2D>(g.square());
  const step = tf.divNoNan(g, accumulators.add(hyper.epsilon).sqrt());
  return { table: stepped(table, hyper.learningRate, step), slots: [accumulators] };
}

function rowWiseAdagrad({ table, slots }: Rows, g: tf.Tensor2D, hyper: Hyper): Rows {
  const accumulators = slots[0]!.add<tf.Tensor2D>(g.square().mean(1, true));
  const step = tf.divNoNan(g, accumulators.add(hyper.epsilon).sqrt());
  return { table: stepped(table, hyper.learningRate, step), slots: [accumulators] };
}

function adagradMomentum({ table, slots }: Rows, g: tf.Tensor2D, hyper: Hyper): Rows {
  const { beta2, momentum } = hyper;
  const squares = g.square();
  const accumulators =
    beta2 === 1 ? slots[0]!.add<tf.Tensor2D>(squares) : slots[0]!.mul(beta2).add<tf.Tensor2D>(squares.mul(1 - beta2));
  const step = tf.divNoNan(g, power(accumulators.add(hyper.epsilon), 1 / hyper.exponent));
  const momenta = slots[1]!.mul(momentum).add<tf.Tensor2D>(step);
  const update = hyper.useNesterov !== 0 ? momenta.mul(momentum).add(step) : momenta;
  return { table: stepped(table, hyper.learningRate, update), slots: [accumulators, momenta] };
}

function adam({ table, slots }: Rows, g: tf.Tensor2D, hyper: Hyper): Rows {
  const { beta1, beta2, epsilon } = hyper;
  const momenta = slots[0]!.mul(beta1).add<tf.Tensor2D>(g.mul(1 - beta1));
  const velocities = slots[1]!.mul(beta2).add<tf.Tensor2D>(g.square().mul(1 - beta2));
  const square = velocities.div<tf.Tensor2D>(hyper.correction2);
  const root = hyper.sumInsideSqrt !== 0 ? square.add(epsilon * epsilon).sqrt() : square.sqrt().add(epsilon);
  const step = tf.divNoNan(momenta.div(hyper.correction1), root);
  return { table: stepped(table, hyper.learningRate, step), slots: [momenta, velocities] };
}

function ftrl({ table, slots }: Rows, g: tf.Tensor2D, hyper: Hyper): Rows {
  const { learningRate, l1, l2, beta } = hyper;
  // Its state is in units of 1 / rate: a step at rate 0, where warm-ups start, leaves everything as it is.
  if (learningRate === 0) return { table, slots };
  const exponent = -hyper.learningRatePower;
  const accumulators = slots[0]!.add<tf.Tensor2D>(g.square());
  const after = power(accumulators, exponent);
  const shrink = after.sub(power(slots[0]!, exponent)).mul(table);
  const isMultiplied = hyper.multiplyLinearByLearningRate !== 0;
  const change = isMultiplied ? g.mul(learningRate).sub(shrink) : g.sub(shrink.div(learningRate));
  const linears = slots[1]!.add<tf.Tensor2D>(change);
  const bound = isMultiplied ? learningRate * l1 : l1;
  const numerator = l1 === 0 ? linears.neg() : linears.clipByValue(-bound, bound).sub(linears);
  const denominator = isMultiplied
    ? after.add(2 * learningRate * l2 + beta)
    : after
        .add(beta)
        .div(learningRate)
        .add(2 * l2);
  // A denominator of 0 means that no gradient has ever reached the element: it keeps still.
  const next = tf.where(tf.equal(denominator, 0), table, tf.divNoNan(numerator, denominator));
  return { table: next as tf.Tensor2D, slots: [accumulators, linears] };
}

export const ROW_UPDATES: Readonly<Record<OptimizerName, RowsUpdate>> = {
  sgd,
  adagrad,
  rowWiseAdagrad,
  adagradMomentum,
  adam,
  ftrl,
};
