/**
 * tfjs-converter splits a tensor into a list of rows only, and lists are made by its own ops alone. So another node makes
 * an empty list of the shape that the elements have, and our op fills one like it.
 */
import type { GraphDef, GraphNodeDef } from '../../tfjs_patches/graph_models/graph_loading.js';
import { withNodes } from './graph_nodes.js';

/** Inputs: the tensor, the shape of an element, the lengths. `suffix`: the outputs of nodes in references. */
function intoEmptyList(node: GraphNodeDef, suffix: (output: string) => string): GraphNodeDef[] {
  const { attr = {}, input, name, op } = node;
  if (op !== 'TensorListSplit' || input === undefined || input.length < 3) return [node];
  const [tensor, shape, lengths, ...orders] = input;
  const [size, empty] = [`${name}/size`, `${name}/empty`];
  return [
    { name: size, op: 'Size', input: [lengths!], attr: {} },
    { name: empty, op: 'EmptyTensorList', input: [shape!, `${size}${suffix('output')}`], attr },
    { ...node, input: [tensor!, `${empty}${suffix('handle')}`, lengths!, ...orders] },
  ];
}

/** The same graph, with an empty list for each tensor that becomes one. */
export function withEmptyLists(graph: GraphDef): GraphDef {
  // In a function an output goes by its name.
  return withNodes(graph, (nodes, isOfFunction) =>
    nodes.flatMap((node) => intoEmptyList(node, (output) => (isOfFunction ? `:${output}:0` : ''))),
  );
}
