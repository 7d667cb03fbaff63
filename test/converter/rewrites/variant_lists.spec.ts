import { withNumberedVariants } from '../../../src/converter/rewrites/variant_lists.js';

describe('lists of variants', () => {
  it('are lists of the numbers that stand for them; other nodes stay as they are', () => {
    const ofType = (op: string, type: string) => ({ name: op, op, attr: { element_dtype: { type }, a: { i: '1' } } });
    const nodes = [ofType('TensorListStack', 'DT_FLOAT'), ofType('Other', 'DT_VARIANT'), { name: 'n', op: 'NoOp' }];
    const lists = ['TensorListReserve', 'EmptyTensorList'];
    const graph = withNumberedVariants({ node: [...nodes, ...lists.map((op) => ofType(op, 'DT_VARIANT'))] });
    expect(graph.node).toEqual([...nodes, ...lists.map((op) => ofType(op, 'DT_INT32'))]);
  });
});
