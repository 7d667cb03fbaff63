/** Kernels of the tfjs backend `webgl`. */
import * as tf from '@tensorflow/tfjs';
import { KERNEL_NAMES } from '../bag_tensors.js';
import { addBackend } from '../registry.js';
import { KERNEL_FUNCTIONS, keepTablesOnHost, sliceTablesOnHost, webglTables } from './webgl_tables.js';

const BACKEND = 'webgl';

/** Registers the kernels. Needs no webgl backend to be there. */
export function registerWebglBackend(): void {
  for (const kernelName of KERNEL_NAMES) {
    // Another build of this package may have been here before.
    if ((tf.getKernel(kernelName, BACKEND) as tf.KernelConfig | undefined) !== undefined) continue;
    const setupFunc = keepTablesOnHost as (backend: unknown) => void;
    tf.registerKernel({ kernelName, backendName: BACKEND, kernelFunc: KERNEL_FUNCTIONS[kernelName]!, setupFunc });
  }
  const running = tf.engine().registry[BACKEND];
  if (running !== undefined) keepTablesOnHost(running);
  sliceTablesOnHost();
  addBackend(BACKEND, webglTables);
}
