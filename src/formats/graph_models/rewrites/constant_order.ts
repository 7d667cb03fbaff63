/**
 * A constant that comes after a node with an effect, as TensorFlow's simplifications write it, means that whatever reads
 * the constant comes after that node. tfjs-converter has all constants from the start, so their readers are told instead.
 */
import type { GraphDef } from '../../../tfjs/graph_models/graph_loading.js';
import { withNodes, type Nodes } from './graph_nodes.js';

/** The node that an input stands for: `^name`, `name:0` or `name`. */
const nodeOf = (input: string): string => input.replace(/^\^/, '').split(':')[0]!;

function ordered(nodes: Nodes, effects: ReadonlySet<string>): Nodes {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const before = new Map<string, string[]>();
  for (const { name, op, input = [] } of nodes) {
    if (op !== 'Const') continue;
    const waits = input.filter((each) => each.startsWith('^') && effects.has(byName.get(nodeOf(each))?.op ?? ''));
    if (waits.length > 0) before.set(name, waits);
  }
  if (before.size === 0) return nodes;
  return nodes.map((node) => {
    const { input = [] } = node;
    const waits = new Set(
      input.flatMap((each) => before.get(nodeOf(each)) ?? []).filter((each) => !input.includes(each)),
    );
    return waits.size === 0 || node.op === 'Const' ? node : { ...node, input: [...input, ...waits] };
  });
}

/** The same graph, with the readers of constants after the nodes whose ops have effects. */
export function withOrderedConstants(graph: GraphDef, effects: ReadonlySet<string>): GraphDef {
  return withNodes(graph, (nodes) => ordered(nodes, effects));
}
