/** w -= lr g. */
import { elementwise, stepped, type UpdateRule } from './update_rule.js';

export const sgd = {
  className: 'SGD',
  slots: [],
  fields: [],
  keras: { className: 'SGD', fields: {} },
  stepRow: elementwise((element, g, hyper) => {
    element.w -= hyper.learningRate * g;
  }),
  stepRows: (_, { table, slots }, g, hyper) => ({ table: stepped(table, hyper.learningRate, g), slots }),
  dense: (train, _, learningRate) => train.sgd(learningRate),
} as const satisfies UpdateRule;
