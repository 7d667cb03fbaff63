/** Makes the native kernels available, where there is an addon. Imported by the Node entry only. */
import { existsSync } from 'node:fs';
import { addKernelSet } from '../registry.js';
import { addonPath } from './addon.js';
import { loadNative } from './load_native.js';

/**
 * Returns null when the native kernels are in place, else the reason why they are not: kernels in WebAssembly or
 * TypeScript then run instead, and `backendInfo()` says so.
 */
export function registerNativeKernels(): string | null {
  const path = addonPath();
  if (!existsSync(path)) return `${path} is missing: npx tfjs-embeddings setup`;
  try {
    addKernelSet(loadNative(path));
    return null;
  } catch (error) {
    return `${path} cannot be loaded: ${(error as Error).message}`;
  }
}
