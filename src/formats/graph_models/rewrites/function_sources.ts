/**
 * Nodes of a function that read nothing, such as `OptionalNone`: tfjs-converter runs what leads from the arguments to the
 * results, and takes others for arguments that are missing. They come after the first argument.
 */
import type { GraphDef } from '../../../tfjs/graph_models/graph_loading.js';
import { withFunctions } from './graph_nodes.js';

/** The same graph, with nodes of functions that an argument leads to. */
export function withFunctionSources(graph: GraphDef): GraphDef {
  return withFunctions(graph, (definition) => {
    const [first] = (definition.signature.inputArg ?? []) as readonly { readonly name?: string }[];
    const nodes = definition.nodeDef;
    if (first?.name === undefined || nodes === undefined) return definition;
    return {
      ...definition,
      nodeDef: nodes.map((node) => {
        const isSource = (node.input ?? []).length === 0 && node.op !== 'Const';
        return isSource ? { ...node, input: [`^${first.name}`] } : node;
      }),
    };
  });
}
