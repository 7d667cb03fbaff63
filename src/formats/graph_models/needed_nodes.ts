/** Which nodes of a graph its outputs need. */
import type { GraphArtifacts, GraphDef, GraphNodeDef } from '../../tfjs/graph_models/graph_loading.js';

interface FunctionAttribute {
  readonly func?: { readonly name?: string } | null;
  readonly list?: { readonly func?: readonly { readonly name?: string }[] | null } | null;
}

/** The node that an input stands for: `^name`, `name:0` or `name`. */
export const nodeOf = (input: string): string => input.replace(/^\^/, '').split(':')[0]!;

/** The functions that a node calls. */
function calledBy({ op, attr = {} }: GraphNodeDef): string[] {
  const named = Object.values(attr).flatMap((each) => {
    const { func, list } = (each ?? {}) as FunctionAttribute;
    return [func, ...(list?.func ?? [])];
  });
  return [op, ...named.flatMap((each) => each?.name ?? [])];
}

/** The nodes of the graph that signatures tell as outputs; without them those that no node reads. */
export function outputsOf({ modelTopology, signature, userDefinedMetadata }: GraphArtifacts): string[] {
  const { outputs = {} } = userDefinedMetadata?.signature ?? signature ?? {};
  const told = Object.values(outputs).map(({ name }) => nodeOf(name));
  if (told.length > 0) return told;
  const nodes = modelTopology.node ?? [];
  const read = new Set(nodes.flatMap(({ input = [] }) => input.map(nodeOf)));
  return nodes.map(({ name }) => name).filter((name) => !read.has(name));
}

/** All that the nodes of these names read, one through the other. */
function readBy(nodes: readonly GraphNodeDef[], names: readonly string[]): GraphNodeDef[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const found = new Set<GraphNodeDef>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const node = byName.get(name);
    if (node === undefined || found.has(node)) continue;
    found.add(node);
    open.push(...(node.input ?? []).map(nodeOf));
  }
  return [...found];
}

/** The nodes that the outputs of a model need, all nodes of the functions that they call, and those of the initializer. */
export function neededNodes(artifacts: GraphArtifacts): ReadonlySet<GraphNodeDef> {
  const { modelTopology, modelInitializer } = artifacts;
  const inFunctions = (graph: GraphDef | undefined, nodes: readonly GraphNodeDef[]): GraphNodeDef[] => {
    const functions = new Map((graph?.library?.function ?? []).map((each) => [each.signature.name, each]));
    const all = [...nodes];
    for (const node of all) {
      for (const name of calledBy(node)) {
        all.push(...(functions.get(name)?.nodeDef ?? []));
        functions.delete(name);
      }
    }
    return all;
  };
  const needed = readBy(modelTopology.node ?? [], outputsOf(artifacts));
  const made = modelInitializer?.node ?? [];
  return new Set([...inFunctions(modelTopology, needed), ...inFunctions(modelInitializer, made)]);
}
