/** w -= lr g. With momentum: m = momentum m - lr g; w += m, or along the momentum to come. */
import type * as tf from '@tensorflow/tfjs';
import { UP_TO_ONE } from './fields.js';
import { elementwise, stepped, type RowUpdate, type UpdateRule } from './update_rule.js';

export const momentum = {
  slots: ['momenta'],
  movesIdleRows: true,
  stepRow: elementwise((element, g, hyper) => {
    const step = hyper.learningRate * g;
    element.slot0 = hyper.momentum * element.slot0 - step;
    element.w += hyper.useNesterov ? hyper.momentum * element.slot0 - step : element.slot0;
  }),
  stepRows: (_, { table, slots }, g, hyper) => {
    const step = g.mul<tf.Tensor2D>(hyper.learningRate);
    const momenta = slots[0]!.mul(hyper.momentum).sub<tf.Tensor2D>(step);
    const change = hyper.useNesterov !== 0 ? momenta.mul(hyper.momentum).sub(step) : momenta;
    return { table: table.add(change), slots: [momenta] };
  },
} as const satisfies RowUpdate;

export const sgd = {
  className: 'SGD',
  slots: [],
  fields: ['momentum', 'nesterov', 'lazy'],
  limits: { momentum: UP_TO_ONE },
  keras: { className: 'SGD', fields: { momentum: 'momentum', nesterov: 'nesterov' } },
  hyper: ({ nesterov }) => ({ useNesterov: Number(nesterov) }),
  update: (settings) => (settings.momentum > 0 ? 'momentum' : 'sgd'),
  stepRow: elementwise((element, g, hyper) => {
    element.w -= hyper.learningRate * g;
  }),
  stepRows: (_, { table, slots }, g, hyper) => ({ table: stepped(table, hyper.learningRate, g), slots }),
  dense: (train, settings, learningRate) => (settings.momentum > 0 ? null : train.sgd(learningRate)),
} as const satisfies UpdateRule;
