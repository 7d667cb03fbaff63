/** Loops and lists of graphs that tfjs-converter does not run as they are written. */
import * as tf from '@tensorflow/tfjs';
import { withLoopInputs } from '../../src/converter/loop_inputs.js';
import { withPlainLists } from '../../src/converter/list_inputs.js';
import * as emb from '../../src/node.js';
import type { GraphNodeDef } from '../../src/tfjs_patches/graph_models/graph_loading.js';
import { expectNoLeakAsync } from '../helpers/tensors.js';
import { FLOAT, INT32, execute, loadGraph, placeholder, text } from './small_graph.js';

const enter = (name: string, input: string, frame: string, isConstant = false): GraphNodeDef => {
  return { name, op: 'Enter', input: [input], attr: { frame_name: text(frame), is_constant: { b: isConstant } } };
};

function looped(node: GraphNodeDef[]): Record<string, readonly string[] | undefined> {
  const { modelTopology } = withLoopInputs({ modelTopology: { node } });
  return Object.fromEntries(modelTopology.node!.map(({ name, input }) => [name, input]));
}

describe('loops of graphs', () => {
  it('read constants from outside, through loops within loops, and begin when all is there', () => {
    const inputs = looped([
      { name: 'table', op: 'Const' },
      enter('table/outer', 'table', 'outer', true),
      enter('table/inner', 'table/outer', 'inner', true),
      enter('i', 'zero:1', 'outer'),
      enter('j', 'one', 'inner'),
      { name: 'read', op: 'Gather', input: ['table/inner', 'table/inner:0', '^table/inner', 'j:1'] },
    ]);
    expect(inputs['read']).toEqual(['table', 'table', '^table', 'j:1']);
    expect(inputs['i']).toEqual(['zero:1', '^table']);
    expect(inputs['j']).toEqual(['one', '^table']);
    expect(inputs['table']).toBeUndefined();
  });

  it('wait for all that enters them, each once, and not for themselves', () => {
    const inputs = looped([
      enter('k', 'array:1', 'f', true),
      enter('a', 'x', 'f'),
      enter('b', 'array', 'f'),
      enter('c', 'x', 'f'),
      enter('d', 'y', 'g'),
    ]);
    expect(inputs['a']).toEqual(['x', '^array']);
    expect(inputs['b']).toEqual(['array', '^x']);
    expect(inputs['d']).toEqual(['y']);
  });

  it('come after what a Switch reads where they came after the Switch', () => {
    const inputs = looped([
      { name: 'branch', op: 'Switch', input: ['value:1', 'condition'] },
      { name: 'pivot', op: 'NoOp', input: ['^branch', '^other'] },
      { name: 'taken', op: 'Identity', input: ['branch:1'] },
    ]);
    expect(inputs['pivot']).toEqual(['^value:1', '^condition', '^other']);
    expect(inputs['taken']).toEqual(['branch:1']);
    expect(inputs['branch']).toEqual(['value:1', 'condition']);
  });

  it('stay as they are where nothing enters', () => {
    const graph = { modelTopology: { node: [{ name: 'a', op: 'Add', input: ['x', '^y'] }] } };
    expect(withLoopInputs(graph)).toEqual(graph);
    expect(withLoopInputs({ modelTopology: {}, modelInitializer: {} })).toEqual({
      modelTopology: {},
      modelInitializer: {},
    });
    const { modelInitializer } = withLoopInputs({
      modelTopology: {},
      modelInitializer: { node: [enter('k', 'x', 'f', true), { name: 'r', op: 'Neg', input: ['k'] }] },
    });
    expect(modelInitializer!.node![1]!.input).toEqual(['x']);
  });
});

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
        { name: 'sum', op: 'AddN', input: ['a', 'b', '^before'] },
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
    const { modelTopology, modelInitializer } = withPlainLists({
      modelTopology: { node: nodeDef, library: { function: [{ signature: { name: 'f' }, nodeDef }] } },
      modelInitializer: { node: [pack] },
    });
    const inputs = (nodes: readonly GraphNodeDef[]): unknown => nodes.map(({ name, input }) => [name, input]);
    const order = ['pack/in_order', ['a', '^b']];
    const rest = [
      ['neg', ['a', '^b']],
      ['none', ['^b']],
    ];
    expect(inputs(modelTopology.node!)).toEqual([order, ['pack', ['pack/in_order', 'c']], ...rest]);
    const inner = modelTopology.library!.function![0]!.nodeDef!;
    expect(inputs(inner)).toEqual([order, ['pack', ['pack/in_order:output:0', 'c']], ...rest]);
    expect(inputs(modelInitializer!.node!)).toEqual([order, ['pack', ['pack/in_order', 'c']]]);
  });
});
