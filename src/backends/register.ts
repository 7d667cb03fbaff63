/** Makes the kernels known to the backends of tfjs. */
import { registerCpuBackend } from './cpu/register.js';
import { registerGenericBackends } from './generic/register.js';
import { referenceKernels } from './reference/reference_kernel_set.js';
import { addKernelSet } from './registry.js';
import { registerTensorFlowBackend } from './tensorflow/register.js';
import { registerWasmBackend } from './wasm/register.js';
import { registerWebglBackend } from './webgl/register.js';
import { registerWebgpuBackend } from './webgpu/register.js';
import { noteOddTensors } from '../tfjs/cpu_values.js';

/**
 * Registers the kernels that pages run. Others, `tensorflow` and `webgpu` included, are given stock ops when first used,
 * unless an entry that knows more of them is there. May be called again.
 */
export function registerLookupBackends(): void {
  noteOddTensors();
  addKernelSet(referenceKernels);
  registerGenericBackends();
  registerCpuBackend();
  registerWasmBackend();
  registerWebglBackend();
}

/** Registers the kernels of every backend but the emulator. May be called again. */
export function registerBackends(): void {
  registerLookupBackends();
  registerTensorFlowBackend();
  registerWebgpuBackend();
}
