/** Ops of graphs, called one by one as tfjs-converter calls them in a graph model. */
import * as tf from '@tensorflow/tfjs';
import { GRAPH_OPS } from '../../../../src/formats/graph_models/graph_ops.js';
import type { GraphOp } from '../../../../src/formats/graph_models/graph_op.js';
import { withEmptySizes } from '../../../../src/formats/graph_models/rewrites/empty_sizes.js';
import { countOf, totalOf } from '../../../../src/formats/graph_models/signature.js';
import { readTensor, writeTensor, type WireTensor } from './wire_tensors.js';

/** A NodeDef as JSON. */
export interface NodeCall {
  readonly name: string;
  readonly op: string;
  readonly attr: Readonly<Record<string, unknown>>;
  readonly inputs: readonly WireTensor[];
}

/** How tfjs-converter reads the attributes of a node for a registered op. */
type NodeValue = new (node: object, tensors: object, context: object) => { readonly attrs: Record<string, unknown> };
const CONVERTER = '@tensorflow/tfjs-converter/dist/operations/custom_op/node_value_impl.js';

/** Lists and ragged tensors as variants have no form outside TensorFlow; variables and tables stay TensorFlow's own. */
function isCallable({ signature: { name, inputs, outputs } }: GraphOp): boolean {
  const types = [...inputs, ...outputs].map(({ type }) => type);
  if (types.includes('variant') || /Table/.test(name)) return false;
  return !types.includes('resource') || /^(TensorArray|Stack)/.test(name);
}

/** The ops that can be called. V1 and V2 of TensorArray name their arrays by references, which kernels do not see. */
export function callableOps(): string[] {
  return [...GRAPH_OPS.values()]
    .filter(isCallable)
    .map(({ signature }) => signature.name)
    .filter((name) => !name.startsWith('TensorArray') || /(V3|GradWithShape)$/.test(name))
    .sort();
}

export class GraphOpCalls {
  private constructor(private readonly nodeValue: NodeValue) {}
  /** One run without an end: handles live as long as the process. */
  private readonly context = { weightMap: {}, tensorArrayMap: {}, functionMap: {} };

  static async make(): Promise<GraphOpCalls> {
    const { NodeValueImpl } = (await import(CONVERTER)) as { NodeValueImpl: NodeValue };
    return new GraphOpCalls(NodeValueImpl);
  }

  run({ name, op, attr, inputs }: NodeCall, buffers: readonly Uint8Array[], out: Uint8Array[]): WireTensor[] {
    const { signature, run } = GRAPH_OPS.get(op)!;
    const [read] = withEmptySizes({ node: [{ name, op, attr }] }).node!;
    const raw = { name, op, inputNames: [], inputs: [], rawAttrs: read!.attr };
    const value = new this.nodeValue(raw, {}, this.context);
    const node = { name, op, inputs: [], attrs: value.attrs, node: raw, context: this.context };
    const count = totalOf(signature.outputs, value.attrs);
    const given = inputs.map((input) => readTensor(input, buffers));
    // Handles are found by their numbers: results that are objects of graphs stay.
    const results = run(given, node as unknown as tf.GraphNode);
    const kinds = signature.outputs.flatMap((output) =>
      new Array<string>(countOf(output, value.attrs)).fill(output.type),
    );
    const wires = results.slice(0, count).map((tensor) => writeTensor(tensor, out));
    tf.dispose(given);
    results.forEach((tensor, i) => {
      if (kinds[i] !== 'resource') tensor.dispose();
    });
    return wires;
  }
}
