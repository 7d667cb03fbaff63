/**
 * Ops of tfjs-converter that take a list of tensors take for one of it whatever they only have to come after. So another
 * node comes after it, which passes the first tensor of the list on.
 */
import type { GraphDef, GraphNodeDef } from '../../../tfjs/graph_models/graph_loading.js';
import { withNodes } from './graph_nodes.js';

const LISTS: readonly string[] = [
  ...['AddN', 'Concat', 'ConcatV2', 'Einsum', 'IdentityN', 'Pack', 'ShapeN'],
  ...['If', 'StatelessIf', 'While', 'StatelessWhile'],
];

/** `suffix`: what follows the name of a node in a reference to its output. */
function inOrder(node: GraphNodeDef, suffix: string): GraphNodeDef[] {
  const { input = [] } = node;
  const orders = input.filter((each) => each.startsWith('^'));
  const [first, ...others] = input.filter((each) => !each.startsWith('^'));
  if (orders.length === 0 || first === undefined || !LISTS.includes(node.op)) return [node];
  const name = `${node.name}/in_order`;
  return [
    { name, op: 'Identity', input: [first, ...orders], attr: {} },
    { ...node, input: [`${name}${suffix}`, ...others] },
  ];
}

/** The same graph, with lists of tensors alone. */
export function withPlainLists(graph: GraphDef): GraphDef {
  // In a function an output goes by its name.
  return withNodes(graph, (nodes, isOfFunction) =>
    nodes.flatMap((node) => inOrder(node, isOfFunction ? ':output:0' : '')),
  );
}
