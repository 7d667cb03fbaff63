import { withKnownInputs } from '../../../../src/formats/graph_models/rewrites/function_inputs.js';

describe('inputs of functions', () => {
  it('lose the name of the function where a node goes without it', () => {
    const nodeDef = [
      { name: 'f/size', op: 'Const' },
      { name: 'size_1', op: 'Pack', input: ['x'] },
      { name: 'g/y', op: 'Const' },
      {
        name: 'sum',
        op: 'AddN',
        input: ['f/size:output:0', 'f/size_1:output:0', 'f/missing:output:0', 'g/y:output:0'],
      },
    ];
    const graph = withKnownInputs({ library: { function: [{ signature: { name: 'f' }, nodeDef }] } });
    const nodes = graph.library!.function![0]!.nodeDef!;
    expect(nodes.slice(0, 3)).toEqual(nodeDef.slice(0, 3));
    expect(nodes[3]!.input).toEqual(['f/size:output:0', 'size_1:output:0', 'f/missing:output:0', 'g/y:output:0']);
  });
});
