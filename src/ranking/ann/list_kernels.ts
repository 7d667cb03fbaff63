/** The kernels of an index that are in use. */
import type { KernelSet } from '../../backends/kernel_set.js';
import { offers } from '../../backends/model_kernels.js';
import type { ListKernels } from '../../backends/ranking.js';
import { kernelSet } from '../../backends/registry.js';
import type { WasmKernels } from '../../backends/wasm/kernels.js';
import { scanLists } from '../../backends/wasm/list_scan_calls.js';
import { plainKernels } from './reference.js';

/** An instance of WebAssembly, where there is one: its class would bring the module into every bundle. */
function instanceOf(set: KernelSet): WasmKernels | null {
  return set.name === 'wasm' ? (set as KernelSet & { kernels(): WasmKernels }).kernels() : null;
}

/** Native ones; of WebAssembly the scan, as ranks of rows outside of its memory are as fast in TypeScript. */
export function listKernels(): ListKernels {
  const set = kernelSet();
  if (offers(set, 'scanLists')) return set as KernelSet & ListKernels;
  const instance = instanceOf(set);
  return instance === null ? plainKernels : { ...plainKernels, scanLists: (job) => scanLists(instance, job) };
}
