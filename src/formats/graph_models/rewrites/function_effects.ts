/**
 * What a function of a graph does beside its outputs, such as a check in the body of a loop: TensorFlow lists the nodes that
 * must have run when the function ends (`control_ret`), tfjs-converter runs what outputs need. So an output comes after them.
 * And of a node it gives one output alone, for all that the function returns of it.
 */
import { nodeOf } from '../needed_nodes.js';
import type { GraphDef, GraphFunctionDef, GraphNodeDef } from '../../../tfjs/graph_models/graph_loading.js';
import { withFunctions } from './graph_nodes.js';

/** Ops that hold others, which may have effects. */
const HOLDERS: readonly string[] = ['If', 'NoOp', 'While'];

/** A function without outputs gives a number: a node that gives nothing never counts as run. */
function withOutput(definition: GraphFunctionDef, orders: readonly string[]): GraphFunctionDef {
  const { nodeDef = [], signature } = definition;
  const outputArg = [{ name: 'effects', type: 'DT_FLOAT' }];
  const end: GraphNodeDef = { name: 'after_effects', op: 'NoOp', input: orders };
  return {
    ...definition,
    signature: { ...signature, outputArg },
    nodeDef: [...nodeDef, end],
    ret: { effects: 'after_effects:output:0' },
  };
}

function ended(definition: GraphFunctionDef, effects: ReadonlySet<string>): GraphFunctionDef {
  const { controlRet = {}, nodeDef = [], ret = {} } = definition;
  const opOf = new Map(nodeDef.map(({ name, op }) => [name, op]));
  const waits = Object.values(controlRet).filter((name) => {
    const op = opOf.get(name) ?? '';
    return effects.has(op) || HOLDERS.includes(op);
  });
  const orders = [...new Set(waits)].map((name) => `^${name}`);
  const outputs = Object.entries(ret);
  if (outputs.length === 0) return withOutput(definition, orders);
  const ends: GraphNodeDef[] = [];
  const returned = new Set<string>();
  const passed = outputs.map(([key, value], at): [string, string] => {
    const node = nodeOf(value);
    const isRepeated = returned.has(node);
    returned.add(node);
    // A constant is a weight of the model, of which loops dispose as of their other results.
    const isConstant = opOf.get(node) === 'Const';
    if (!isConstant && !isRepeated && (at > 0 || orders.length === 0)) return [key, value];
    const name = `${key}/after_effects`;
    ends.push({ name, op: 'Identity', input: [value, ...(at === 0 ? orders : [])], attr: {} });
    return [key, `${name}:output:0`];
  });
  return ends.length === 0
    ? definition
    : { ...definition, nodeDef: [...nodeDef, ...ends], ret: Object.fromEntries(passed) };
}

/** The same graph, with functions that end when all is done. */
export function withFunctionEffects(graph: GraphDef, effects: ReadonlySet<string>): GraphDef {
  return withFunctions(graph, (definition) => ended(definition, effects));
}
