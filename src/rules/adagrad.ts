/** a += g^2; w -= lr g / sqrt(a + epsilon). */
import type * as tf from '@tensorflow/tfjs';
import { POSITIVE } from './fields.js';
import { elementwise, quotient, stepped, type UpdateRule } from './update_rule.js';

export const adagrad = {
  className: 'Adagrad',
  slots: ['accumulators'],
  fields: ['initialAccumulatorValue', 'epsilon'],
  limits: { initialAccumulatorValue: POSITIVE },
  keras: {
    className: 'Adagrad',
    fields: { initialAccumulatorValue: 'initialAccumulatorValue', epsilon: 'epsilon' },
  },
  stepRow: elementwise((element, g, hyper) => {
    element.slot0 += g * g;
    element.w -= hyper.learningRate * quotient(g, Math.sqrt(element.slot0 + hyper.epsilon));
  }),
  stepRows: ({ divNoNan }, { table, slots }, g, hyper) => {
    const accumulators = slots[0]!.add<tf.Tensor2D>(g.square());
    const step = divNoNan(g, accumulators.add(hyper.epsilon).sqrt());
    return { table: stepped(table, hyper.learningRate, step), slots: [accumulators] };
  },
  dense: (train, { initialAccumulatorValue }, learningRate) => train.adagrad(learningRate, initialAccumulatorValue),
} as const satisfies UpdateRule;
