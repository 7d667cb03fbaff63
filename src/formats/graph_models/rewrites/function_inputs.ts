/**
 * In the functions of a graph the converter puts the function's name before the names of constants. Where the name of
 * another node begins with that of a constant, it does so for readers of that node too, and they read what is not there.
 * For constants that are outputs of the function it does not.
 */
import type { GraphDef, GraphFunctionDef } from '../../../tfjs/graph_models/graph_loading.js';
import { withFunctions } from './graph_nodes.js';

function namedAsNodes(definition: GraphFunctionDef): GraphFunctionDef {
  const { nodeDef = [], ret } = definition;
  const prefix = `${definition.signature.name}/`;
  const names = new Set(nodeDef.map(({ name }) => name));
  const known = (input: string): string => {
    const [node] = input.split(':');
    if (names.has(node!)) return input;
    if (names.has(`${prefix}${node}`)) return `${prefix}${input}`;
    const isLost = node!.startsWith(prefix) && names.has(node!.slice(prefix.length));
    return isLost ? input.slice(prefix.length) : input;
  };
  return {
    ...definition,
    // Which tfjs-converter reads of functions without inputs too.
    signature: { inputArg: [], ...definition.signature },
    nodeDef: nodeDef.map((node) => (node.input === undefined ? node : { ...node, input: node.input.map(known) })),
    ...(ret && { ret: Object.fromEntries(Object.entries(ret).map(([key, value]) => [key, known(value)])) }),
  };
}

/** The same graph, with inputs of functions called as the nodes are. */
export function withKnownInputs(graph: GraphDef): GraphDef {
  return withFunctions(graph, namedAsNodes);
}
