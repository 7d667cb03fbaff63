/**
 * Loops of graphs as tfjs-converter can run them. It finds what lies outside of a loop by itself, but there are two things
 * that it does not do:
 *
 * - Constants enter a loop through nodes of their own. Where one comes after the loop has begun, because another loop makes
 *   it, what reads it in later iterations never runs. So readers take what enters, and the loop begins when all is there.
 * - What only has to come after a `Switch` waits for the branch that is not taken. So it comes after what the `Switch` reads.
 */
import type { GraphDef, GraphNodeDef } from '../../../tfjs/graph_models/graph_loading.js';
import type { Nodes } from './graph_nodes.js';

interface EnterAttributes {
  readonly frame_name?: { readonly s?: unknown };
  readonly is_constant?: { readonly b?: boolean };
}

const attributesOf = (node: GraphNodeDef): EnterAttributes => (node.attr ?? {}) as EnterAttributes;

const isConstant = (node: GraphNodeDef): boolean => attributesOf(node).is_constant?.b === true;

/** An edge of order alone: `^name`. */
const orderOf = (input: string): string => `^${input.replace(/^\^/, '').split(':')[0]!}`;

/** An order after a Switch as one after its inputs; of another Switch the branch that is read counts. */
function afterInputs(input: string, switches: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return input.startsWith('^') ? (switches.get(input.slice(1)) ?? [input]) : [input];
}

function orderedAfterSwitches(nodes: Nodes): Nodes {
  const all = nodes.filter(({ op }) => op === 'Switch');
  const switches = new Map(
    all.map(({ name, input = [] }) => [name, input.map((each) => `^${each.replace(/^\^/, '')}`)]),
  );
  if (switches.size === 0) return nodes;
  return nodes.map((node) => {
    const { input } = node;
    const isLed = input?.some((each) => each.startsWith('^') && switches.has(each.slice(1))) === true;
    return isLed ? { ...node, input: [...new Set(input.flatMap((each) => afterInputs(each, switches)))] } : node;
  });
}

/** What an input stands for once constants are read from outside. */
function outside(input: string, sources: ReadonlyMap<string, string>): string {
  const isOrder = input.startsWith('^');
  let name = isOrder ? input.slice(1) : input;
  // Loops within loops pass a constant on.
  for (
    let next = sources.get(name.replace(/:0$/, ''));
    next !== undefined;
    next = sources.get(name.replace(/:0$/, ''))
  ) {
    name = next;
  }
  return isOrder ? orderOf(name) : name;
}

function readFromOutside(nodes: Nodes): Nodes {
  const enters = nodes.filter(({ op, input = [] }) => op === 'Enter' && input.length > 0);
  const sources = new Map(enters.filter(isConstant).map(({ name, input }) => [name, input![0]!]));
  if (sources.size === 0) return nodes;
  const entering = new Map<string, string[]>();
  for (const enter of enters) {
    const frame = String(attributesOf(enter).frame_name?.s);
    entering.set(frame, [...(entering.get(frame) ?? []), orderOf(outside(enter.input![0]!, sources))]);
  }
  return nodes.map((node) => {
    const input = (node.input ?? []).map((each) => outside(each, sources));
    if (node.op !== 'Enter' || isConstant(node)) return node.input === undefined ? node : { ...node, input };
    const own = orderOf(input[0]!);
    const waits = entering.get(String(attributesOf(node).frame_name?.s))!.filter((each) => each !== own);
    return { ...node, input: [...new Set([...input, ...waits])] };
  });
}

/** The same graph, with loops that run. Those of functions are single nodes. */
export function withLoopInputs(graph: GraphDef): GraphDef {
  return graph.node ? { ...graph, node: orderedAfterSwitches(readFromOutside(graph.node)) } : graph;
}
