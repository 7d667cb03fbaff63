/** Adam; lazy (rows without ids keep still) unless `lazy: false`. */
import type * as tf from '@tensorflow/tfjs';
import { POSITIVE } from './fields.js';
import { elementwise, quotient, stepped, type UpdateRule } from './update_rule.js';

export const adam = {
  className: 'Adam',
  slots: ['momenta', 'velocities'],
  movesIdleRows: true,
  fields: ['beta1', 'beta2', 'epsilon', 'biasCorrection', 'sumInsideSqrt', 'lazy'],
  learningRate: 0.001,
  limits: { epsilon: POSITIVE },
  keras: { className: 'Adam', fields: { beta1: 'beta1', beta2: 'beta2', epsilon: 'epsilon' } },
  hyper: ({ biasCorrection, beta1, beta2 }, step) =>
    biasCorrection ? { correction1: 1 - beta1 ** step, correction2: 1 - beta2 ** step } : {},
  stepRow: elementwise((element, g, hyper) => {
    const { beta1, beta2, epsilon } = hyper;
    element.slot0 = beta1 * element.slot0 + (1 - beta1) * g;
    element.slot1 = beta2 * element.slot1 + (1 - beta2) * g * g;
    const mean = element.slot0 / hyper.correction1;
    const square = element.slot1 / hyper.correction2;
    const root = hyper.sumInsideSqrt ? Math.sqrt(square + epsilon * epsilon) : Math.sqrt(square) + epsilon;
    element.w -= hyper.learningRate * quotient(mean, root);
  }),
  stepRows: ({ divNoNan }, { table, slots }, g, hyper) => {
    const { beta1, beta2, epsilon } = hyper;
    const momenta = slots[0]!.mul(beta1).add<tf.Tensor2D>(g.mul(1 - beta1));
    const velocities = slots[1]!.mul(beta2).add<tf.Tensor2D>(g.square().mul(1 - beta2));
    const square = velocities.div<tf.Tensor2D>(hyper.correction2);
    const root = hyper.sumInsideSqrt !== 0 ? square.add(epsilon * epsilon).sqrt() : square.sqrt().add(epsilon);
    const step = divNoNan(momenta.div(hyper.correction1), root);
    return { table: stepped(table, hyper.learningRate, step), slots: [momenta, velocities] };
  },
  dense: (train, { beta1, beta2, epsilon }, learningRate) => train.adam(learningRate, beta1, beta2, epsilon),
} as const satisfies UpdateRule;
