/** One accumulator per row: a += mean over columns of g^2; w -= lr g / sqrt(a + epsilon). */
import type * as tf from '@tensorflow/tfjs';
import { adagrad } from './adagrad.js';
import { quotient, stepped, type UpdateRule } from './update_rule.js';

export const rowWiseAdagrad = {
  className: 'RowWiseAdagrad',
  slots: ['accumulators'],
  rowSlots: 1,
  fields: ['initialAccumulatorValue', 'epsilon'],
  limits: adagrad.limits,
  stepRow: (row, [accumulators], id, gradient, hyper) => {
    const squares = gradient.reduce((sum, g) => sum + g * g, 0);
    const accumulator = accumulators![id]! + (row.length === 0 ? 0 : squares / row.length);
    accumulators![id] = accumulator;
    const root = Math.sqrt(accumulator + hyper.epsilon);
    row.forEach((w, c) => {
      row[c] = w - quotient(hyper.learningRate * gradient[c]!, root);
    });
  },
  stepRows: ({ divNoNan }, { table, slots }, g, hyper) => {
    const accumulators = slots[0]!.add<tf.Tensor2D>(g.square().mean(1, true));
    const step = divNoNan(g, accumulators.add(hyper.epsilon).sqrt());
    return { table: stepped(table, hyper.learningRate, step), slots: [accumulators] };
  },
  dense: adagrad.dense,
} as const satisfies UpdateRule;
