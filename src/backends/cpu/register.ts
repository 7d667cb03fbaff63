/** Kernels of the tfjs backend `cpu`. */
import * as tf from '@tensorflow/tfjs';
import { KERNEL_NAMES } from '../bag_tensors.js';
import { addBackend } from '../registry.js';
import { addWasmKernelSet } from '../wasm/register.js';
import { cpuTables, KERNEL_FUNCTIONS } from './cpu_tables.js';

const BACKEND = 'cpu';

/** Registers the kernels, which run the implementation in force, and makes WebAssembly one of those to choose from. */
export function registerCpuBackend(): void {
  addWasmKernelSet();
  for (const kernelName of KERNEL_NAMES) {
    // Another build of this package may have been here before.
    if ((tf.getKernel(kernelName, BACKEND) as tf.KernelConfig | undefined) !== undefined) continue;
    tf.registerKernel({ kernelName, backendName: BACKEND, kernelFunc: KERNEL_FUNCTIONS[kernelName]! });
  }
  addBackend(BACKEND, cpuTables);
}
