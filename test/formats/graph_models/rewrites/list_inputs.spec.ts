import * as tf from '@tensorflow/tfjs';
import { withPlainLists } from '../../../../src/formats/graph_models/rewrites/list_inputs.js';
import * as emb from '../../../../src/node.js';
import type { GraphNodeDef } from '../../../../src/tfjs/graph_models/graph_loading.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { FLOAT, INT32, execute, loadGraph, placeholder } from '../small_graph.js';

describe('lists of tensors in graphs', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    emb.converter.registerOps();
  });

  it('hold no node that only has to come before', async () => {
    await expectNoLeakAsync(async () => {
      const axis = { name: 'axis', op: 'Placeholder', attr: { dtype: INT32 } };
      const model = await loadGraph([
        placeholder('a', FLOAT),
        placeholder('b', FLOAT),
        axis,
        { name: 'before', op: 'Neg', input: ['b'] },
        { name: 'pack', op: 'Pack', input: ['a', 'b', '^before'], attr: { axis: { i: '0' } } },
        { name: 'sum', op: 'AddN', input: ['a', 'b', '^before'], attr: { N: { i: '2' } } },
        { name: 'joined', op: 'ConcatV2', input: ['a', 'b', 'axis', '^before'] },
      ]);
      const feeds = { a: tf.tensor1d([1, 2]), b: tf.tensor1d([3, 4]), axis: tf.scalar(0, 'int32') };
      expect(execute(model, feeds, 'pack', 'sum', 'joined')).toEqual([
        [1, 2, 3, 4],
        [4, 6],
        [1, 2, 3, 4],
      ]);
      model.dispose();
    });
  });

  it('are called as functions call their inputs, and other ops keep their order', () => {
    const pack = { name: 'pack', op: 'Pack', input: ['a', '^b', 'c'] };
    const neg = { name: 'neg', op: 'Neg', input: ['a', '^b'] };
    const empty = { name: 'none', op: 'Pack', input: ['^b'] };
    const nodeDef = [pack, neg, empty];
    const graph = { node: nodeDef, library: { function: [{ signature: { name: 'f' }, nodeDef }] } };
    const { node, library } = withPlainLists(graph);
    const inputs = (nodes: readonly GraphNodeDef[]): unknown => nodes.map(({ name, input }) => [name, input]);
    const order = ['pack/in_order', ['a', '^b']];
    const rest = [
      ['neg', ['a', '^b']],
      ['none', ['^b']],
    ];
    expect(inputs(node!)).toEqual([order, ['pack', ['pack/in_order', 'c']], ...rest]);
    const inner = library!.function![0]!.nodeDef!;
    expect(inputs(inner)).toEqual([order, ['pack', ['pack/in_order:output:0', 'c']], ...rest]);
  });
});
