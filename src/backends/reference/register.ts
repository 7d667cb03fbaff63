/** Makes the reference kernels available. */
import { addKernelSet } from '../registry.js';
import { referenceKernels } from './reference_kernel_set.js';

/** Makes the reference available under its name. */
export function registerReferenceKernels(): void {
  addKernelSet(referenceKernels);
}
