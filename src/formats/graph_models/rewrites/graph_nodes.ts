/** Changes of the graphs of a model before tfjs-converter reads them. */
import type {
  GraphArtifacts,
  GraphDef,
  GraphFunctionDef,
  GraphNodeDef,
} from '../../../tfjs/graph_models/graph_loading.js';

export type Nodes = readonly GraphNodeDef[];

/** The same artifacts, with the graph of the model and that of its initializer changed. */
export function withGraphs(artifacts: GraphArtifacts, changed: (graph: GraphDef) => GraphDef): GraphArtifacts {
  const { modelTopology, modelInitializer } = artifacts;
  return {
    ...artifacts,
    modelTopology: changed(modelTopology),
    ...(modelInitializer && { modelInitializer: changed(modelInitializer) }),
  };
}

/** The same graph, with its functions changed. */
export function withFunctions(graph: GraphDef, changed: (definition: GraphFunctionDef) => GraphFunctionDef): GraphDef {
  const { library } = graph;
  return library?.function ? { ...graph, library: { ...library, function: library.function.map(changed) } } : graph;
}

/** The same graph, with its nodes changed, those of its functions too. */
export function withNodes(graph: GraphDef, changed: (nodes: Nodes, isOfFunction: boolean) => Nodes): GraphDef {
  const top = graph.node ? { ...graph, node: changed(graph.node, false) } : graph;
  return withFunctions(top, (definition) =>
    definition.nodeDef ? { ...definition, nodeDef: changed(definition.nodeDef, true) } : definition,
  );
}
