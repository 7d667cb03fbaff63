/** Kernels of the tfjs backend `wasm`, and the WebAssembly implementation on typed arrays. */
import * as tf from '@tensorflow/tfjs';
import { KERNEL_NAMES } from '../bag_tensors.js';
import { addBackend, addKernelSet, namedKernelSet, threadsAskedFor } from '../registry.js';
import { mendWasmCasts } from '../../tfjs/engine/wasm_casts.js';
import { mendWasmPadding } from '../../tfjs/engine/wasm_padding.js';
import { replaceProducts } from './dense_kernels.js';
import { compileEmbedded, whenCompiled } from './module.js';
import { KERNEL_FUNCTIONS } from './tensor_kernels.js';
import { guardMemory } from './tfjs_heap.js';
import { bringThreads } from './threads/bring_threads.js';
import { threadsOfKernels } from './threads/team.js';
import { wasmTables } from './wasm_tables.js';
import { WasmKernelSet } from './wasm_kernel_set.js';

const BACKEND = 'wasm';

/** Runs each time that the backend is set: its own kernels are there then. */
const onBackendSet = new Set<() => void>();

/** Registers the kernels and what the backend adds. Needs no wasm backend to be there. */
export function registerWasmBackend(): void {
  for (const kernelName of KERNEL_NAMES) {
    // Another build of this package may have been here before.
    if ((tf.getKernel(kernelName, BACKEND) as tf.KernelConfig | undefined) !== undefined) continue;
    const kernelFunc = KERNEL_FUNCTIONS[kernelName]!;
    // Set-up functions run each time that the backend is set: the guard is there before the first table is made.
    tf.registerKernel({
      kernelName,
      backendName: BACKEND,
      kernelFunc,
      setupFunc: (backend) => {
        guardMemory(backend as tf.KernelBackend);
        for (const run of onBackendSet) run();
      },
    });
  }
  const running = tf.engine().registry[BACKEND];
  if (running !== undefined) guardMemory(running);
  addBackend(BACKEND, wasmTables);
}

/** Products of matrices, casts and threads: for models, which the smallest entry has none of. May be called again. */
export function registerModelKernels(): void {
  bringThreads();
  startDefaultThreads();
  for (const replace of [replaceProducts, (): void => mendWasmCasts(), (): void => mendWasmPadding()]) {
    onBackendSet.add(replace);
    if (tf.engine().registry[BACKEND] !== undefined) replace();
  }
}

/** Gives the implementation on typed arrays its threads, where no number was asked for. */
function startDefaultThreads(): void {
  const threads = threadsOfKernels();
  if (threads === null || threadsAskedFor() !== null) return;
  namedKernelSet('wasm')?.setThreads(threads.defaultThreads(threads.alone() === null));
}

/** Makes the WebAssembly implementation available to the `cpu` backend as soon as it is compiled. */
export function addWasmKernelSet(): void {
  whenCompiled(() => {
    if (namedKernelSet('wasm') !== undefined) return;
    const set = new WasmKernelSet({ shared: true });
    addKernelSet(set);
    startDefaultThreads();
  });
  compileEmbedded();
}
