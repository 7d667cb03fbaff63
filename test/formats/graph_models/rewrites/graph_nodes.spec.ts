import { withFunctions, withGraphs, withNodes } from '../../../../src/formats/graph_models/rewrites/graph_nodes.js';
import type { GraphDef } from '../../../../src/tfjs/graph_models/graph_loading.js';

const add = { name: 'a', op: 'Add' };
const neg = { name: 'n', op: 'Neg' };
const empty = { signature: { name: 'empty' } };

describe('changed graphs', () => {
  it('are that of the model and, where there is one, that of its initializer', () => {
    const changed = ({ node }: GraphDef): GraphDef => ({ node: [...(node ?? []), neg] });
    const artifacts = { format: 'graph-model', modelTopology: { node: [add] } };
    expect(withGraphs(artifacts, changed)).toEqual({ ...artifacts, modelTopology: { node: [add, neg] } });
    expect(withGraphs({ ...artifacts, modelInitializer: {} }, changed).modelInitializer).toEqual({ node: [neg] });
  });

  it('have other nodes, in functions too, and what they lack is not added', () => {
    const graph = { node: [add], library: { function: [{ ...empty, nodeDef: [neg] }, empty] } };
    const found = withNodes(graph, (nodes, isOfFunction) => nodes.map((node) => ({ ...node, attr: { isOfFunction } })));
    expect(found).toEqual({
      node: [{ ...add, attr: { isOfFunction: false } }],
      library: { function: [{ ...empty, nodeDef: [{ ...neg, attr: { isOfFunction: true } }] }, empty] },
    });
    expect(withNodes({}, () => [neg])).toEqual({});
    // As JSON of some writers has it.
    const nulls = { node: null, library: null } as unknown as GraphDef;
    expect(withNodes(nulls, () => [neg])).toEqual(nulls);
  });

  it('have other functions', () => {
    const graph = { node: [add], library: { function: [empty] } };
    const found = withFunctions(graph, (definition) => ({ ...definition, ret: { y: 'n:0' } }));
    expect(found).toEqual({ node: [add], library: { function: [{ ...empty, ret: { y: 'n:0' } }] } });
  });
});
