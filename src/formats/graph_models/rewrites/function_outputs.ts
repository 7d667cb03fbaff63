/**
 * In functions of a graph an output goes by the name of an argument (`node:values:0`), elsewhere by its number
 * (`node:1`). tfjs-converter knows these names for two of its own ops and takes the last number alone for all others.
 */
import type { GraphDef, GraphFunctionDef } from '../../../tfjs/graph_models/graph_loading.js';
import { countOf, type Signature } from '../signature.js';
import { withFunctions } from './graph_nodes.js';

type Signatures = ReadonlyMap<string, Signature>;

interface Attribute {
  readonly i?: string | number;
}

interface NodeDef {
  readonly name: string;
  readonly op: string;
  readonly input?: readonly string[];
  readonly attr?: Readonly<Record<string, Attribute | undefined>>;
}

/** The number of an output among all of its node; null: of an op with one output, or none that is known. */
function flatIndex(node: NodeDef | undefined, output: string, index: number, signatures: Signatures): number | null {
  const signature = node === undefined ? undefined : signatures.get(node.op);
  if (signature === undefined) return null;
  const counts = Object.fromEntries(Object.entries(node!.attr ?? {}).map(([name, value]) => [name, value?.i]));
  let at = 0;
  for (const argument of signature.outputs) {
    if (argument.name === output) return at + index;
    at += countOf(argument, counts);
  }
  return null;
}

function numbered(definition: GraphFunctionDef, signatures: Signatures): GraphFunctionDef {
  const nodes = (definition.nodeDef ?? []) as readonly NodeDef[];
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const renamed = (reference: string): string => {
    const [name, output, index] = reference.split(':');
    if (index === undefined) return reference;
    const flat = flatIndex(byName.get(name!), output!, Number(index), signatures);
    return flat === null ? reference : `${name}:${flat}`;
  };
  const nodeDef = nodes.map((node) => ({ ...node, ...(node.input && { input: node.input.map(renamed) }) }));
  const ret = Object.fromEntries(Object.entries(definition.ret ?? {}).map(([key, value]) => [key, renamed(value)]));
  return { ...definition, nodeDef, ...(definition.ret && { ret }) };
}

/** The same graph, with the outputs of these ops by number. */
export function withNumberedOutputs(graph: GraphDef, signatures: Signatures): GraphDef {
  return withFunctions(graph, (definition) => numbered(definition, signatures));
}
