/**
 * In the functions of a graph the converter puts the function's name before the names of constants. Where the name of
 * another node begins with that of a constant, it does so for readers of that node too, and they read what is not there.
 */
import type { GraphDef, GraphFunctionDef } from '../../../tfjs/graph_models/graph_loading.js';
import { withFunctions } from './graph_nodes.js';

function namedAsNodes(definition: GraphFunctionDef): GraphFunctionDef {
  const { nodeDef = [] } = definition;
  const prefix = `${definition.signature.name}/`;
  const names = new Set(nodeDef.map(({ name }) => name));
  const known = (input: string): string => {
    const [node] = input.split(':');
    const isLost = node!.startsWith(prefix) && !names.has(node!) && names.has(node!.slice(prefix.length));
    return isLost ? input.slice(prefix.length) : input;
  };
  return {
    ...definition,
    nodeDef: nodeDef.map((node) => (node.input === undefined ? node : { ...node, input: node.input.map(known) })),
  };
}

/** The same graph, with inputs of functions called as the nodes are. */
export function withKnownInputs(graph: GraphDef): GraphDef {
  return withFunctions(graph, (definition) => (definition.nodeDef ? namedAsNodes(definition) : definition));
}
