/** Rows of the inputs of `fit`, taken by one op each that a graph can hold: tf.gather looks at the row numbers first. */
import * as tf from '@tensorflow/tfjs';
import type { NodeBackend } from '../backends/tensorflow/node_backend.js';
import type { StepData } from '../tfjs_patches/training/model_steps.js';

const TYPES = { float32: 'TF_FLOAT', int32: 'TF_INT32' } as const;

/** The rows of these numbers of each tensor. Call inside a tidy. */
export function gathered(backend: NodeBackend, whole: StepData, rows: tf.Tensor1D): StepData {
  const { binding } = backend;
  const axis = tf.scalar(0, 'int32');
  return whole.map((tensor) => {
    if (tensor === null || tensor === undefined) return tensor;
    const type = TYPES[tensor.dtype as keyof typeof TYPES];
    if (type === undefined) return tf.gather(tensor, rows);
    const ofType = (name: string, value: number) => ({ name, type: binding.TF_ATTR_TYPE, value });
    const attributes = [
      { name: 'batch_dims', type: binding.TF_ATTR_INT, value: 0 },
      ofType('Tparams', binding[type]),
      ofType('Tindices', binding.TF_INT32),
      ofType('Taxis', binding.TF_INT32),
    ];
    return backend.executeSingleOutput('GatherV2', attributes, [tensor, rows, axis]);
  });
}
