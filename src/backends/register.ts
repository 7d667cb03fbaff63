/** Makes the kernels known to the backends of tfjs. */
import { registerCpuBackend } from './cpu/register.js';
import { registerGenericBackends } from './generic/register.js';
import { registerReferenceKernels } from './reference/register.js';
import { registerTensorFlowBackend } from './tensorflow/register.js';
import { registerWasmBackend } from './wasm/register.js';

/** Registers the kernels of every backend but the emulator. May be called again. */
export function registerBackends(): void {
  registerReferenceKernels();
  registerGenericBackends();
  registerCpuBackend();
  registerWasmBackend();
  registerTensorFlowBackend();
}
