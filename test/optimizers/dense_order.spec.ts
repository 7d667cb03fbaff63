/** Which loaded state of a stock optimizer a variable gets. */
import * as tf from '@tensorflow/tfjs';
import { DenseOrder } from '../../src/optimizers/dense_part.js';
import type { NamedTensor } from '../../src/base/types.js';

/** Entries that have a number for a name to tell them by. */
function entries(shapes: Record<string, number[]>, kind = ''): NamedTensor[] {
  return Object.entries(shapes).map(([name, shape]) => ({ name: name + kind, tensor: tf.zeros(shape) }));
}

function namesOf(order: DenseOrder, gradients: NamedTensor[]): string[] {
  return order.arrange(gradients).map(({ name, tensor }) => (tensor === null ? `(${name})` : name));
}

describe('DenseOrder', () => {
  const saved = { 'a/kernel': [2, 3], 'a/bias': [3], 'b/kernel': [2, 3] };
  const order = new DenseOrder();
  beforeEach(() => {
    tf.engine().startScope();
    order.restore([...entries(saved, '/m'), ...entries(saved, '/v')]);
  });
  afterEach(() => tf.engine().endScope());

  it('knows variables by their names, in whatever order they come', () => {
    expect(namesOf(order, entries({ 'b/kernel': [2, 3] }))).toEqual(['(a/kernel)', '(a/bias)', 'b/kernel']);
    const rest = entries({ 'a/bias': [3], 'a/kernel': [2, 3] });
    expect(namesOf(order, rest)).toEqual(['a/kernel', 'a/bias', '(b/kernel)']);
  });

  it('knows them by a name that tfjs has numbered', () => {
    expect(namesOf(order, entries({ 'b/kernel_2': [2, 3] }))).toEqual(['(a/kernel)', '(a/bias)', 'b/kernel_2']);
  });

  it('takes no number from the middle of a name, and tells layers apart that tfjs numbered', () => {
    order.restore(entries({ 'tower_1/kernel': [2, 3], 'tower_2/kernel': [2, 3] }, '/m'));
    expect(namesOf(order, entries({ 'tower_2/kernel_1': [2, 3] }))).toEqual(['(tower_1/kernel)', 'tower_2/kernel_1']);
  });

  it('gives variables without a name of their own the state of such ones, in their order', () => {
    order.restore(entries({ 'a/kernel': [2, 3], variable_7: [2, 3], variable_8: [2, 3] }, '/m'));
    const names = namesOf(order, entries({ variable_31: [2, 3], 'a/kernel': [2, 3], variable_30: [2, 3] }));
    expect(names).toEqual(['a/kernel', 'variable_31', 'variable_30']);
  });

  it('goes by order and shape where no name is known', () => {
    const renamed = entries({ 'x/bias': [3], 'x/kernel': [2, 3], 'y/kernel': [2, 3], 'z/kernel': [4, 4] });
    expect(namesOf(order, renamed)).toEqual(['x/kernel', 'x/bias', 'y/kernel', 'z/kernel']);
  });

  it('gives state of another shape to nobody', () => {
    const other = entries({ 'a/kernel': [2, 4], 'b/kernel': [2, 3] });
    expect(namesOf(order, other)).toEqual(['(a/kernel)', '(a/bias)', 'b/kernel', 'a/kernel']);
  });

  it('saves state under the names in force, without variables that are gone', () => {
    const variable = tf.variable(tf.zeros([2, 3]), true, 'dense_order_spec/kernel');
    order.restore(entries({ 'dense_order_spec/kernel': [2, 3], 'gone/kernel': [2, 3], 'frozen/kernel': [2, 3] }, '/m'));
    order.arrange(entries({ 'dense_order_spec/kernel': [2, 3], 'gone/kernel': [2, 3] }));
    const state = entries({ 'x/m': [2, 3], 'y/m': [2, 3], 'z/m': [2, 3] });
    expect(order.named(state).map(({ name }) => name)).toEqual(['dense_order_spec/kernel/m', 'frozen/kernel/m']);
    variable.dispose();
  });

  it('names nothing anew where one kind has more state than another', () => {
    order.arrange(entries(saved));
    const state = [...entries(saved, '/m'), ...entries({ x: [2, 3] }, '/v')];
    expect(order.named(state).map(({ name }) => name)).toEqual(state.map(({ name }) => name));
  });

  it('restores nothing where there is no state', () => {
    order.restore([]);
    expect(namesOf(order, entries({ 'b/kernel': [2, 3] }))).toEqual(['b/kernel']);
  });
});
