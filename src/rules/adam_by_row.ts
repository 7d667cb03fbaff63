/**
 * Adam for rows that begin at different steps, those of open tables: each counts its own steps in its last slot, and its
 * corrections go by them. By the number of the optimizer's step a late row's first steps would be several times too large.
 * Source: use_rowwise_bias_correction of FBGEMM 1.4.
 */
import type * as tf from '@tensorflow/tfjs';
import { adam, amsgrad, type AdamUpdate } from './adam.js';
import type { Hyper } from './hyper.js';
import type { RowUpdate } from './update_rule.js';

/** 1 - beta^steps, by squarings of what is left of 1: exact where beta^steps is near 1. The C core does the same. */
export function correctionAt(beta: number, steps: number): number {
  let part = 1 - beta;
  let found = 0;
  for (let left = Math.max(1, steps); left >= 1; left >>>= 1) {
    if (left & 1) found += part * (1 - found);
    part *= 2 - part;
  }
  return found;
}

/** The numbers of a row's next step. `asKeras`: its epsilon stands beside the root before the correction of that. */
function numbersAt(hyper: Hyper, steps: number, asKeras: boolean): Hyper {
  const { beta1, beta2, epsilon } = hyper;
  const correction2 = correctionAt(beta2, steps);
  return {
    ...hyper,
    correction1: correctionAt(beta1, steps),
    correction2,
    epsilon: asKeras ? epsilon / Math.sqrt(correction2) : epsilon,
  };
}

/** 1 - beta^steps of rows, [n, 1]. */
function correctionsAt(beta: number, steps: tf.Tensor2D): tf.Tensor2D {
  return steps.mul<tf.Tensor2D>(Math.log(beta)).expm1<tf.Tensor2D>().neg();
}

function byRow(update: AdamUpdate, asKeras: boolean): RowUpdate {
  return {
    ...update,
    slots: [...update.slots, 'steps'],
    rowSlots: 1,
    stepRow(row, slots, id, gradient, hyper) {
      const counts = slots.at(-1)!;
      counts[id]! += 1;
      update.stepRow(row, slots.slice(0, -1), id, gradient, numbersAt(hyper, counts[id]!, asKeras));
    },
    stepRows(ops, { table, slots }, gradient, hyper) {
      const steps = slots.at(-1)!.add<tf.Tensor2D>(1);
      const correction1 = correctionsAt(hyper.beta1, steps);
      const correction2 = correctionsAt(hyper.beta2, steps);
      const epsilon = asKeras ? ops.div<tf.Tensor2D>(hyper.epsilon, correction2.sqrt()) : hyper.epsilon;
      const own = { ...hyper, correction1, correction2, epsilon };
      const next = update.stepRows(ops, { table, slots: slots.slice(0, -1) }, gradient, own);
      return { table: next.table, slots: [...next.slots, steps] };
    },
  };
}

export const adamByRow = byRow(adam, false);
export const adamWByRow = byRow(adam, true);
export const amsgradByRow = byRow(amsgrad, true);
