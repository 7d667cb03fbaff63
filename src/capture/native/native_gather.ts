/** Rows by TensorFlow's own op, which checks their numbers itself. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, withTensor } from '../../backends/tensorflow/node_backend.js';
import type { Gather } from '../overrides/gathers.js';

const TYPES = { float32: 'TF_FLOAT', int32: 'TF_INT32' } as const;

/** The rows of a matrix, or of a tensor of more axes; null for other gathers, and where a row is not there: tfjs says which. */
export function nativeGather({ x, indices, axis, batchDims }: Gather): tf.TensorInfo | null {
  const type = TYPES[x.dtype as keyof typeof TYPES];
  if (axis !== 0 || batchDims !== 0 || type === undefined || indices.dtype !== 'int32') return null;
  const backend = asNodeBackend(tf.backend());
  const { binding } = backend;
  const attributes = [
    { name: 'batch_dims', type: binding.TF_ATTR_INT, value: 0 },
    { name: 'Tparams', type: binding.TF_ATTR_TYPE, value: binding[type] },
    { name: 'Tindices', type: binding.TF_ATTR_TYPE, value: binding.TF_INT32 },
    { name: 'Taxis', type: binding.TF_ATTR_TYPE, value: binding.TF_INT32 },
  ];
  try {
    return withTensor(backend, Int32Array.of(0), [], (first) =>
      backend.executeSingleOutput(tf.GatherV2, attributes, [x, indices, first]),
    );
  } catch {
    return null;
  }
}
