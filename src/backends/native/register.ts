/** Makes the native kernels available, where there is an addon. Imported by the Node entry only. */
import { addKernelSet, setAddonInfo } from '../registry.js';
import { type Addon, addonPath, ADDON_FUNCTIONS, loadAddon } from './addon.js';
import { addonsHere } from './addons_here.js';
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

/** `addon`: that runs now; null: kernels in WebAssembly or TypeScript do. `faults`: what is here and is of no use. */
export interface NativeKernels {
  readonly addon: Addon | null;
  readonly faults: readonly string[];
}

/** Puts the kernels of the best addon in place; `backendInfo()` tells which one it is, or why there is none. */
export function registerNativeKernels(here = addonsHere()): NativeKernels {
  const faults = [...here.faults];
  for (const { path, source } of here.found) {
    try {
      const kernels = loadNative(path);
      addKernelSet(kernels);
      setAddonInfo(source);
      return { addon: kernels.addon, faults };
    } catch (error) {
      faults.push(`${path} cannot be loaded: ${(error as Error).message}`);
    }
  }
  setAddonInfo(`WebAssembly: ${faults.length > 0 ? faults.join('; ') : here.lacking}`);
  return { addon: null, faults };
}
