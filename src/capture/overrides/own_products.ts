/** Products of small matrices by the op of ours while a step runs op by op: its graph, and a resumed training, then give the same bits. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, type NodeBackend } from '../../backends/tensorflow/node_backend.js';
import type { AttributeKinds } from '../graph_def.js';
import { asOwn } from '../../tfjs/engine/own_functions.js';
import type { Override } from '../../tfjs/training/substitute.js';
import { asProduct } from '../fewer_ops/products.js';

/** Small products are those of our op. */
export const OWN_PRODUCTS: Override = {
  begin() {
    const backend = asNodeBackend(tf.backend());
    const { executeSingleOutput } = backend;
    const own = asOwn<NodeBackend['executeSingleOutput']>((name, attributes, inputs) => {
      const shapes = inputs.map(({ shape }) => shape);
      const areFloats = name === 'BatchMatMulV2' && inputs.every(({ dtype }) => dtype === 'float32');
      const product = areFloats ? asProduct(backend.binding as unknown as AttributeKinds, attributes, shapes) : null;
      if (product === null) return executeSingleOutput.call(backend, name, attributes, inputs);
      return executeSingleOutput.call(backend, product.name, product.attributes, inputs);
    });
    backend.executeSingleOutput = own;
    return () => {
      backend.executeSingleOutput = executeSingleOutput;
    };
  },
};
