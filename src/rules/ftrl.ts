/** Follow the regularized leader. */
import type * as tf from '@tensorflow/tfjs';
import { adagrad } from './adagrad.js';
import { elementwise, power, type UpdateRule } from './update_rule.js';

export const ftrl = {
  className: 'Ftrl',
  slots: ['accumulators', 'linears'],
  fields: ['initialAccumulatorValue', 'learningRatePower', 'l1', 'l2', 'beta', 'multiplyLinearByLearningRate'],
  learningRate: 0.001,
  limits: adagrad.limits,
  keras: {
    className: 'Ftrl',
    fields: {
      learningRatePower: 'learningRatePower',
      initialAccumulatorValue: 'initialAccumulatorValue',
      l1RegularizationStrength: 'l1',
      l2RegularizationStrength: 'l2',
      beta: 'beta',
    },
  },
  stepRow: elementwise((element, g, hyper) => {
    const { learningRate, l1, l2, beta } = hyper;
    // Its state is in units of 1 / rate: a step at rate 0, where warm-ups start, leaves everything as it is.
    if (learningRate === 0) return;
    const exponent = -hyper.learningRatePower;
    const before = element.slot0 ** exponent;
    element.slot0 += g * g;
    const after = element.slot0 ** exponent;
    // Multiplying everything by the learning rate instead of dividing by it keeps rates near 0 safe.
    const multiply = hyper.multiplyLinearByLearningRate !== 0;
    if (multiply) element.slot1 += learningRate * g - (after - before) * element.w;
    else element.slot1 += g - ((after - before) * element.w) / learningRate;
    const bound = multiply ? learningRate * l1 : l1;
    const numerator = Math.min(Math.max(element.slot1, -bound), bound) - element.slot1;
    const denominator = multiply ? after + 2 * learningRate * l2 + beta : (after + beta) / learningRate + 2 * l2;
    // A denominator of 0 means that no gradient has ever reached the element.
    if (denominator !== 0) element.w = numerator / denominator;
  }),
  stepRows: ({ divNoNan, equal, where }, { table, slots }, g, hyper) => {
    const { learningRate, l1, l2, beta } = hyper;
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
    const next = where(equal(denominator, 0), table, divNoNan(numerator, denominator));
    return { table: next as tf.Tensor2D, slots: [accumulators, linears] };
  },
  dense: adagrad.dense,
} as const satisfies UpdateRule;
