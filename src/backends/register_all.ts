/** The kernels of every backend but those of devices. */
import { registerLookupBackends } from './register.js';
import { registerTensorFlowBackend } from './tensorflow/register.js';
import { registerWebgpuBackend } from './webgpu/register.js';

/** Registers them. May be called again. */
export function registerBackends(): void {
  registerLookupBackends();
  registerTensorFlowBackend();
  registerWebgpuBackend();
}
