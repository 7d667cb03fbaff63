/** Kernels of the tfjs backend `cpu`. */
import * as tf from '@tensorflow/tfjs';
import { KERNEL_NAMES } from '../bag_tensors.js';
import { addBackendPart, kernelSet, type BackendPart } from '../registry.js';
import { addWasmKernelSet } from '../wasm/register.js';
import { hasKernel, lookUpMany, stepMany } from './many_tables.js';
import { readRows, writeRows } from './rows.js';
import { placeTable, sparseApply } from './sparse_apply.js';
import { KERNEL_FUNCTIONS } from './tensor_kernels.js';

const BACKEND = 'cpu';

/** What runs many tables at once asks the implementation in force, each time. */
const PART: BackendPart = {
  sparseApply,
  placeTable,
  readRows,
  writeRows,
  info: () => kernelSet().info(),
  get lookUp(): BackendPart['lookUp'] {
    const set = kernelSet();
    return hasKernel(set, 'embeddingBags') ? (lookups) => lookUpMany(set, lookups) : undefined;
  },
  get sparseApplyMany(): BackendPart['sparseApplyMany'] {
    const set = kernelSet();
    return hasKernel(set, 'sparseApplyMany') ? (name, updates) => stepMany(set, name, updates) : undefined;
  },
};

/** Registers the kernels, which run the implementation in force, and makes WebAssembly one of those to choose from. */
export function registerCpuBackend(): void {
  addWasmKernelSet();
  for (const kernelName of KERNEL_NAMES) {
    // Another build of this package may have been here before.
    if ((tf.getKernel(kernelName, BACKEND) as tf.KernelConfig | undefined) !== undefined) continue;
    tf.registerKernel({ kernelName, backendName: BACKEND, kernelFunc: KERNEL_FUNCTIONS[kernelName]! });
  }
  addBackendPart(BACKEND, PART);
}
