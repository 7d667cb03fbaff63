/** Kernels of the tfjs backend `webgpu`. */
import * as tf from '@tensorflow/tfjs';
import { followCopies } from '../../tfjs/webgpu/derived_copies.js';
import { WEBGPU, type WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import { HostCopies } from '../../tfjs/webgpu/host_copies.js';
import { KERNEL_NAMES } from '../bag_tensors.js';
import { addBackend, registeredBackend } from '../registry.js';
import { kernelFunctions } from './kernels.js';
import { mendStockKernels } from './stock_kernels.js';
import { webgpuTables } from './webgpu_tables.js';

/** Watches what goes to the GPU from the start: ids may go before the first lookup. */
function watch(backend: unknown): void {
  HostCopies.of(backend as WebgpuBackend);
  // Before copies are followed: what they derive is of the kernels in place.
  mendStockKernels();
  followCopies();
}

/** Registers the kernels. Needs no webgpu backend to be there. May be called again. */
export function registerWebgpuBackend(): void {
  // Another build of this package may have been here before.
  if (registeredBackend(WEBGPU)?.store.memory === webgpuTables.store.memory) return;
  const kernels = kernelFunctions();
  for (const kernelName of KERNEL_NAMES) {
    // Lookups alone may have run here before, on stock ops.
    if ((tf.getKernel(kernelName, WEBGPU) as tf.KernelConfig | undefined) !== undefined) {
      tf.unregisterKernel(kernelName, WEBGPU);
    }
    // Set-up functions run each time that the backend is set: its own kernels are there then.
    tf.registerKernel({
      kernelName,
      backendName: WEBGPU,
      kernelFunc: kernels[kernelName]!,
      setupFunc: watch,
    });
  }
  const running = tf.engine().registry[WEBGPU];
  if (running !== undefined) watch(running);
  addBackend(WEBGPU, webgpuTables);
}
