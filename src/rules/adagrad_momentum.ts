/** Momentum over Adagrad-scaled gradients. */
import type * as tf from '@tensorflow/tfjs';
import { POSITIVE, UP_TO_ONE } from './fields.js';
import { elementwise, power, quotient, stepped, type UpdateRule } from './update_rule.js';

export const adagradMomentum = {
  className: 'AdagradMomentum',
  slots: ['accumulators', 'momenta'],
  movesIdleRows: true,
  fields: ['initialAccumulatorValue', 'momentum', 'useNesterov', 'exponent', 'beta2', 'epsilon', 'lazy'],
  learningRate: 0.001,
  defaults: { initialAccumulatorValue: 0, beta2: 1, epsilon: 1e-10 },
  limits: { beta2: UP_TO_ONE, epsilon: POSITIVE },
  stepRow: elementwise((element, g, hyper) => {
    const { beta2, epsilon, exponent, momentum } = hyper;
    element.slot0 = beta2 === 1 ? element.slot0 + g * g : beta2 * element.slot0 + (1 - beta2) * g * g;
    const step = quotient(g, (element.slot0 + epsilon) ** (1 / exponent));
    element.slot1 = momentum * element.slot1 + step;
    element.w -= hyper.learningRate * (hyper.useNesterov ? momentum * element.slot1 + step : element.slot1);
  }),
  stepRows: ({ divNoNan }, { table, slots }, g, hyper) => {
    const { beta2, momentum } = hyper;
    const squares = g.square();
    const accumulators =
      beta2 === 1 ? slots[0]!.add<tf.Tensor2D>(squares) : slots[0]!.mul(beta2).add<tf.Tensor2D>(squares.mul(1 - beta2));
    const step = divNoNan(g, power(accumulators.add(hyper.epsilon), 1 / hyper.exponent));
    const momenta = slots[1]!.mul(momentum).add<tf.Tensor2D>(step);
    const update = hyper.useNesterov !== 0 ? momenta.mul(momentum).add(step) : momenta;
    return { table: stepped(table, hyper.learningRate, update), slots: [accumulators, momenta] };
  },
  dense: (train, { momentum, useNesterov }, learningRate) => train.momentum(learningRate, momentum, useNesterov),
} as const satisfies UpdateRule;
