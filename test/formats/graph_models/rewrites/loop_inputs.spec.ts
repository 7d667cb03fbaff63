import { withLoopInputs } from '../../../../src/formats/graph_models/rewrites/loop_inputs.js';
import type { GraphNodeDef } from '../../../../src/tfjs/graph_models/graph_loading.js';
import { text } from '../small_graph.js';

const enter = (name: string, input: string, frame: string, isConstant = false): GraphNodeDef => {
  return { name, op: 'Enter', input: [input], attr: { frame_name: text(frame), is_constant: { b: isConstant } } };
};

function looped(node: GraphNodeDef[]): Record<string, readonly string[] | undefined> {
  const graph = withLoopInputs({ node });
  return Object.fromEntries(graph.node!.map(({ name, input }) => [name, input]));
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
    const graph = { node: [{ name: 'a', op: 'Add', input: ['x', '^y'] }] };
    expect(withLoopInputs(graph)).toEqual(graph);
    expect(withLoopInputs({})).toEqual({});
  });
});
