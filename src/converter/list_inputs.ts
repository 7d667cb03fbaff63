/**
 * Ops of tfjs-converter that take a list of tensors take for one of it whatever they only have to come after. So another
 * node comes after it, which passes the first tensor of the list on.
 */
import type { GraphArtifacts, GraphDef, GraphNodeDef } from '../tfjs_patches/graph_models/graph_loading.js';

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

function inGraph<Graph extends GraphDef>(graph: Graph): Graph {
  const functions = graph.library?.function;
  return {
    ...graph,
    ...(graph.node && { node: graph.node.flatMap((node) => inOrder(node, '')) }),
    ...(functions && {
      library: {
        ...graph.library,
        function: functions.map((each) => ({
          ...each,
          ...(each.nodeDef && { nodeDef: each.nodeDef.flatMap((node) => inOrder(node, ':output:0')) }),
        })),
      },
    }),
  };
}

/** The same artifacts, with lists of tensors alone. */
export function withPlainLists(artifacts: GraphArtifacts): GraphArtifacts {
  const { modelTopology, modelInitializer } = artifacts;
  return {
    ...artifacts,
    modelTopology: inGraph(modelTopology),
    ...(modelInitializer && { modelInitializer: inGraph(modelInitializer) }),
  };
}
