/** Puts the ops of this package into tfjs-converter. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { beforeGraphLoads, opCategories, type GraphArtifacts } from '../../tfjs/graph_models/graph_loading.js';
import { nodeName } from '../../tfjs/graph_models/graph_run.js';
import { mendWasmOneHot } from '../../tfjs/graph_models/wasm_one_hot.js';
import { mendWasmPadding } from '../../tfjs/engine/wasm_padding.js';
import { mendWasmStridedSlice } from '../../tfjs/graph_models/wasm_strided_slice.js';
import { GRAPH_OPS } from './graph_ops.js';
import type { GraphOp } from './graph_op.js';
import { refuseOddNodes } from './refused_nodes.js';
import { withEmptySizes } from './rewrites/empty_sizes.js';
import { withOrderedConstants } from './rewrites/constant_order.js';
import { withFunctionEffects } from './rewrites/function_effects.js';
import { withFunctionSources } from './rewrites/function_sources.js';
import { withKnownInputs } from './rewrites/function_inputs.js';
import { withNumberedOutputs } from './rewrites/function_outputs.js';
import { withGraphs } from './rewrites/graph_nodes.js';
import { withPlainLists } from './rewrites/list_inputs.js';
import { withLoopInputs } from './rewrites/loop_inputs.js';
import { parseSignature, totalOf } from './signature.js';
import { STOCK_OPS, STOCK_OUTPUTS } from './stock_ops.js';
import { refuseUnknownOps } from './unknown_ops.js';

const registered = (): Set<string> => perProcess('registered ops', () => new Set());

const SIGNATURES = new Map([
  ...STOCK_OUTPUTS.map(parseSignature).map((signature) => [signature.name, signature] as const),
  ...[...GRAPH_OPS].map(([name, { signature }]) => [name, signature] as const),
]);
const NAMES: ReadonlySet<string> = new Set(GRAPH_OPS.keys());
/** Ops that others may have to come after. */
const EFFECTS: ReadonlySet<string> = new Set(
  [...NAMES].filter((name) => !STOCK_OPS.includes(name) || /^(Tensor(Array|List)|.*Table)/.test(name)),
);

/** Behind the inputs of the op tfjs lists the nodes that only have to run before it. */
function execute(op: GraphOp, node: tf.GraphNode): tf.Tensor[] {
  const { name, inputs } = op.signature;
  // The number of a list, which graphs written by hand may leave out.
  const most = node.inputs.length - inputs.filter((argument) => argument.count === null).length;
  const count = totalOf(inputs, { N: most, ...node.attrs });
  if (count > node.inputs.length) {
    const received = described(`${node.inputs.length}`);
    throw new ValueError(nodeName(node), `${count} inputs, as many as this ${name} says`, received);
  }
  try {
    return op.run(node.inputs.slice(0, count), node);
  } catch (error) {
    // What tfjs says of its arguments, or TensorFlow of its inputs.
    if (Object.getPrototypeOf(error) !== Error.prototype) throw error;
    throw new ValueError(nodeName(node), `inputs that ${name} takes`, described((error as Error).message));
  }
}

/** May be called again: the backend may come later. */
function mendKernels(): void {
  mendWasmOneHot();
  mendWasmStridedSlice();
  mendWasmPadding();
}

/** The graphs of a model as tfjs-converter runs them. */
function rewritten(artifacts: GraphArtifacts): GraphArtifacts {
  const changed = withGraphs(artifacts, (graph) => {
    const known = withKnownInputs(withFunctionSources(withEmptySizes(graph)));
    const named = withNumberedOutputs(known, SIGNATURES);
    return withFunctionEffects(withLoopInputs(named), EFFECTS);
  });
  return withGraphs(withOrderedConstants(changed, EFFECTS), withPlainLists);
}

/**
 * Registers the ops that graphs of embedding models hold and tfjs-converter lacks, and returns their names. From then on
 * `tf.loadGraphModel` refuses a graph whose outputs need unregistered ops: the error names them, where they stand, and
 * what registers each. A graph that holds them where its outputs need none loads, with a warning that says the same. Ops
 * that were registered before by `tf.registerOp` stay as they are and count as known.
 *
 * Ops run as TensorFlow ops on the backend `tensorflow` and as plain kernels elsewhere. May be called again.
 * Integers are int32: a value beyond is a ValueError.
 * Source: tf.registerOp (TensorFlow.js 4.22), ops of TensorFlow 2.21.
 *
 * @returns The names of the ops that are registered, sorted.
 *
 * @example
 * emb.converter.registerOps();
 * const model = await tf.loadGraphModel('file://./model/model.json');
 */
export function registerOps(): string[] {
  const ours = registered();
  const categories = opCategories([...NAMES]);
  for (const [name, op] of GRAPH_OPS) {
    const isCustom = categories.get(name) === 'custom';
    if (isCustom) continue;
    tf.registerOp(name, (node) => execute(op, node));
    ours.add(name);
  }
  beforeGraphLoads((artifacts) => {
    mendKernels();
    refuseUnknownOps(artifacts, NAMES);
    refuseOddNodes(artifacts);
    return rewritten(artifacts);
  });
  mendKernels();
  return [...NAMES].filter((name) => ours.has(name));
}
