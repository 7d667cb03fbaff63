/** Makes the native kernels available, where there is an addon. Imported by the Node entry only. */
import { existsSync } from 'node:fs';
import { addKernelSet } from '../registry.js';
import { addonPath, ADDON_FUNCTIONS, loadAddon } from './addon.js';
import { NativeKernelSet } from './native_kernel_set.js';

/**
 * Returns the native kernels. Throws where the addon is missing or cannot be loaded; `npx tfjs-embeddings setup`
 * makes it.
 */
export function loadNative(path = addonPath()): NativeKernelSet {
  const addon = loadAddon(path);
  for (const name of ADDON_FUNCTIONS) {
    if (typeof addon[name] !== 'function') throw new Error(`it was built from other sources: it has no ${name}`);
  }
  return new NativeKernelSet(addon, path);
}

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
