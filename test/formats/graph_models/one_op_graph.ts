/** Graph models of one op, whose inputs are placeholders. */
import * as tf from '@tensorflow/tfjs';
import type { GoldenOp, GoldenSignature, GoldenTensor } from './golden_ops.js';

const TYPES = { int32: 'DT_INT32', float32: 'DT_FLOAT', bool: 'DT_BOOL', string: 'DT_STRING' } as const;

export function tensorOf({ dtype, shape, values }: GoldenTensor): tf.Tensor {
  return tf.tensor(values as number[], shape, dtype);
}

function attributeOf(value: number | boolean | readonly string[]): object {
  if (typeof value === 'number') return { i: String(value) };
  if (typeof value === 'boolean') return { b: value };
  return { list: { s: value.map((text) => btoa(text)) } };
}

/** The node's attributes, types included. */
function attributesOf({ attributes, inputs }: GoldenOp, signature: GoldenSignature): Record<string, object> {
  const all = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, attributeOf(value)]));
  let at = 0;
  for (const { type, count } of signature.inputs) {
    const dtype = inputs[at]?.dtype;
    if (dtype !== undefined && /^[TI]/.test(type)) all[type] = { type: TYPES[dtype] };
    at += count === null ? 1 : Number(attributes[count]);
  }
  return all;
}

/** Returns the outputs of a graph with this op. */
export async function runInGraph(golden: GoldenOp, signature: GoldenSignature): Promise<tf.Tensor[]> {
  const placeholders = golden.inputs.map(({ dtype }, i) => {
    return { name: `x${i}`, op: 'Placeholder', attr: { dtype: { type: TYPES[dtype] } } };
  });
  const node = {
    name: 'op',
    op: golden.op,
    input: placeholders.map(({ name }) => name),
    attr: attributesOf(golden, signature),
  };
  // A node that comes before ours for its effects alone.
  const before = { name: 'before', op: 'NoOp' };
  const artifacts = {
    modelTopology: {
      node: [...placeholders, before, { ...node, input: [...node.input, '^before'] }],
      versions: { producer: 1, minConsumer: 1 },
    },
    weightSpecs: [],
    weightData: new ArrayBuffer(0),
  };
  const model = await tf.loadGraphModel({ load: () => Promise.resolve(artifacts) } as unknown as tf.io.IOHandler);
  const feeds = Object.fromEntries(golden.inputs.map((input, i) => [`x${i}`, tensorOf(input)]));
  const count = signature.outputs.reduce(
    (sum, each) => sum + (each.count === null ? 1 : Number(golden.attributes[each.count])),
    0,
  );
  try {
    const outputs = model.execute(
      feeds,
      Array.from({ length: count }, (_, i) => `op:${i}`),
    );
    return Array.isArray(outputs) ? outputs : [outputs];
  } finally {
    tf.dispose(feeds);
    model.dispose();
  }
}
