/** The kernels of the backends that pages start on: what the smallest entries bring. */
import { registerCpuBackend } from './cpu/register.js';
import { registerGenericBackends } from './generic/register.js';
import { referenceKernels } from './reference/reference_kernel_set.js';
import { addKernelSet } from './registry.js';
import { registerWasmBackend } from './wasm/register.js';
import { registerWebglBackend } from './webgl/register.js';
import { trackMismatchedTensors } from '../tfjs/cpu_values.js';

/**
 * Registers the kernels that pages run. Others, `tensorflow` and `webgpu` included, are given stock ops when first used,
 * unless an entry that knows more of them is there. May be called again.
 */
export function registerLookupBackends(): void {
  trackMismatchedTensors();
  addKernelSet(referenceKernels);
  registerGenericBackends();
  registerCpuBackend();
  registerWasmBackend();
  registerWebglBackend();
}
