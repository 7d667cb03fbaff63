import { FunctionBuilder } from '../../../../src/formats/saved_model/graph/function_builder.js';

describe('a TensorFlow function on its way', () => {
  it('gives each argument and node a name of its own', () => {
    const builder = new FunctionBuilder('serve');
    const names = ['x', 'x', 'x', 'x_4', 'x', 'x_2'].map((name) => builder.argument('float32', [null], name).ref);
    expect(names).toEqual(['x', 'x_2', 'x_3', 'x_4', 'x_5', 'x_2_2']);
  });

  it('counts on past names that others took', () => {
    const builder = new FunctionBuilder('serve');
    const names = ['y_2', 'y_3', 'y', 'y', 'y'].map((name) => builder.argument('float32', [], name).ref);
    expect(names).toEqual(['y_2', 'y_3', 'y', 'y_4', 'y_5']);
    const node = { dtype: 'float32', shape: [] } as const;
    const refs = ['Const', 'Const'].map((op) => builder.node(op, [], node).ref);
    expect(refs).toEqual(['Const:output:0', 'Const_2:output:0']);
  });
});
