/** Kernels of this package, run on the backend in use. */
import type * as tf from '@tensorflow/tfjs';
import { runOnEngine } from '../tfjs/engine/engine_run.js';
import { backendPart } from '../backends/registry.js';
import { withPublicErrors } from './kernel_errors.js';

/** Runs a kernel, without the inputs that are null; an id out of range becomes the public error. */
export function runKernel<T>(name: string, inputs: Record<string, tf.Tensor | null>, attrs: object): T {
  // Makes the kernels known to a backend that nobody registered.
  backendPart();
  return withPublicErrors(() => runOnEngine<T>(name, inputs, attrs), inputs['table']);
}
