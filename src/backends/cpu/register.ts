/** Kernels of the tfjs backend `cpu`. */
import * as tf from '@tensorflow/tfjs';
import { KERNEL_NAMES } from '../bag_tensors.js';
import { addBackendPart, kernelSet, registeredPart } from '../registry.js';
import { addWasmKernelSet } from '../wasm/register.js';
import { newTable, readRows, writeRows } from './rows.js';
import { packedApply, placeTable, sparseApply } from './sparse_apply.js';
import { KERNEL_FUNCTIONS } from './tensor_kernels.js';

const BACKEND = 'cpu';

/** Registers the kernels, which run the implementation in force, and makes WebAssembly one of those to choose from. */
export function registerCpuBackend(): void {
  addWasmKernelSet();
  for (const kernelName of KERNEL_NAMES) {
    // Another build of this package may have been here before.
    if ((tf.getKernel(kernelName, BACKEND) as tf.KernelConfig | undefined) !== undefined) continue;
    tf.registerKernel({ kernelName, backendName: BACKEND, kernelFunc: KERNEL_FUNCTIONS[kernelName]! });
  }
  if (registeredPart(BACKEND) !== undefined) return; // calls for many tables may have joined it
  const packed = { apply: packedApply, placeTable };
  const rows = { newTable, readRows, writeRows };
  addBackendPart(BACKEND, { sparseApply, packed, placeTable, ...rows, info: () => kernelSet().info() });
}
