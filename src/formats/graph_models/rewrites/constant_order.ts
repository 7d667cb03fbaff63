/**
 * A constant that comes after another node, as TensorFlow's simplifications write it, is there only once that node has run:
 * when a check has passed, or in the branch that is taken. tfjs-converter has all constants from the start, so a node takes
 * the constant's place that passes its value on. The value gets another name, which the weights of the model need too. So
 * do outputs that are constants: a caller that disposes of the output would take the model's weight.
 */
import type { GraphArtifacts, GraphNodeDef } from '../../../tfjs/graph_models/graph_loading.js';
import { nodeOf, outputsOf } from '../needed_nodes.js';
import { withGraphs, withNodes, type Nodes } from './graph_nodes.js';

/** Ops whose outputs may be absent. */
const BRANCHES: readonly string[] = ['If', 'Merge', 'Switch', 'While'];

/** The nodes that matter to those that come after them: because of what they do, or because they may not run. */
function decisiveNodes(nodes: Nodes, effects: ReadonlySet<string>): ReadonlySet<string> {
  const readers = new Map<string, string[]>();
  for (const { name, input = [] } of nodes) {
    for (const source of input.map(nodeOf)) {
      const known = readers.get(source);
      if (known === undefined) readers.set(source, [name]);
      else known.push(name);
    }
  }
  const open = nodes.filter(({ op }) => effects.has(op) || BRANCHES.includes(op)).map(({ name }) => name);
  const found = new Set<string>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(...(readers.get(name) ?? []));
  }
  return found;
}

/** `suffix`: what follows the name of a node in a reference to its output. */
function inOrder(node: GraphNodeDef, value: string, suffix: string): GraphNodeDef[] {
  const { name, input = [] } = node;
  const { input: _, ...constant } = node;
  return [
    { ...constant, name: value },
    { name, op: 'Identity', input: [`${value}${suffix}`, ...input], attr: {} },
  ];
}

/** The same artifacts, with constants that come after what decides about them, and none as outputs. */
export function withOrderedConstants(artifacts: GraphArtifacts, effects: ReadonlySet<string>): GraphArtifacts {
  const renamed = new Map<string, string>();
  const outputs = new Set(outputsOf(artifacts));
  const ordered = (nodes: Nodes, isOfFunction: boolean): Nodes => {
    const decisive = decisiveNodes(nodes, effects);
    return nodes.flatMap((node) => {
      const { name, op, input = [] } = node;
      const isOutput = !isOfFunction && outputs.has(name);
      if (op !== 'Const' || !(isOutput || input.some((each) => decisive.has(nodeOf(each))))) return [node];
      const value = `${name}/value`;
      renamed.set(name, value);
      return inOrder(node, value, isOfFunction ? ':output:0' : '');
    });
  };
  const changed = withGraphs(artifacts, (graph) => withNodes(graph, ordered));
  const { weightSpecs } = artifacts;
  if (renamed.size === 0 || weightSpecs === undefined) return changed;
  return {
    ...changed,
    weightSpecs: weightSpecs.map((spec) => ({ ...spec, name: renamed.get(spec.name) ?? spec.name })),
  };
}
