/** Kernels of this package, run on the backend in use. */
import * as tf from '@tensorflow/tfjs';
import { backendPart } from '../backends/registry.js';
import { withPublicErrors } from './kernel_errors.js';

/** Runs a kernel, without the inputs that are null; an id out of range becomes the public error. */
export function runKernel<T>(name: string, inputs: Record<string, tf.Tensor | null>, attrs: object): T {
  const given: tf.NamedTensorMap = {};
  for (const input in inputs) if (inputs[input] !== null) given[input] = inputs[input]!;
  // Makes the kernels known to a backend that nobody registered.
  backendPart();
  return withPublicErrors(() => {
    return tf.engine().runKernel(name, given, attrs as never) as unknown as T;
  }, inputs['table']);
}
