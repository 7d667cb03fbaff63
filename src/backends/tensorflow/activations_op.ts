/** TensorFlow's own op TPUEmbeddingActivations, for which the op library has a kernel. */
import type * as tf from '@tensorflow/tfjs';
import { registeredBackend } from '../registry.js';
import type { TensorFlowTables } from './tensorflow_tables.js';
import { BACKEND_NAME, asNodeBackend } from './node_backend.js';

/** Its result, or null where the op library is not there. */
export function runActivationsOp(
  backend: unknown,
  embeddingVariable: tf.TensorInfo,
  slicedActivations: tf.TensorInfo,
  tableId: number,
  lookupId: number,
): tf.TensorInfo | null {
  const part = registeredBackend(BACKEND_NAME) as TensorFlowTables | undefined;
  if (part?.hasOps() !== true) return null;
  const node = asNodeBackend(backend);
  const { TF_ATTR_INT } = node.binding;
  const attributes = [
    { name: 'table_id', type: TF_ATTR_INT, value: tableId },
    { name: 'lookup_id', type: TF_ATTR_INT, value: lookupId },
  ];
  return node.executeSingleOutput('TPUEmbeddingActivations', attributes, [embeddingVariable, slicedActivations]);
}
