/** Products of small matrices by the op of ours while a step runs op by op: its graph, and a resumed training, then give the same bits. */
import type { NodeBackend } from '../backends/tensorflow/node_backend.js';
import type { AttributeKinds } from './graph_def.js';
import { asProduct } from './fewer_ops/products.js';

/** Runs `f`, in which small products are those of our op. */
export function withOwnProducts<T>(backend: NodeBackend, f: () => T): T {
  const { executeSingleOutput } = backend;
  const own: NodeBackend['executeSingleOutput'] = (name, attributes, inputs) => {
    const shapes = inputs.map(({ shape }) => shape);
    const areFloats = name === 'BatchMatMulV2' && inputs.every(({ dtype }) => dtype === 'float32');
    const product = areFloats ? asProduct(backend.binding as unknown as AttributeKinds, attributes, shapes) : null;
    if (product === null) return executeSingleOutput.call(backend, name, attributes, inputs);
    return executeSingleOutput.call(backend, product.name, product.attributes, inputs);
  };
  backend.executeSingleOutput = own;
  try {
    return f();
  } finally {
    backend.executeSingleOutput = executeSingleOutput;
  }
}
