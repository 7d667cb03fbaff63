/** The native kernels, out of the addon. Imported by the Node entry only. */
import { ADDON_FUNCTIONS, addonPath, loadAddon } from './addon.js';
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
