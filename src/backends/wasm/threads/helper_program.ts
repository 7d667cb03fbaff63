/** The program of a worker that helps with the kernels: it runs an instance of the module over the same memory. */
import type { WorkerProgram } from '../../../base/worker_thread.js';

/** The only message to a helper. */
export interface HelperMessage {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Address of the pool. */
  readonly pool: number;
  /** Where its stack begins; it grows downwards. */
  readonly stack: number;
  /** From 1 on. */
  readonly number: number;
  /** Words of the pool: what is written when it fails, and where others wait. */
  readonly failed: number;
  readonly gate: number;
}

/** The only message from a helper: why it failed. */
export interface HelperFailure {
  readonly failed: string;
}

/** A helper leaves the kernel only by failing. The caller that waits for it is told by a word of the pool. */
const PROGRAM = `
function help({ module, memory, pool, stack, number, failed, gate }, answer) {
  try {
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    exports.__stack_pointer.value = stack | 0;
    exports.te_pool.value = pool | 0;
    exports.te_wasm_help(number);
  } catch (error) {
    const words = new Int32Array(memory.buffer, pool, gate + failed + 1);
    Atomics.store(words, failed, 1);
    Atomics.notify(words, gate);
    answer({ failed: String(error) });
  }
}
`;

export const HELPER_PROGRAM: WorkerProgram = {
  inNode: `${PROGRAM}
const { parentPort } = require('node:worker_threads');
parentPort.on('message', (message) => help(message, (said) => parentPort.postMessage(said)));`,
  inPage: `${PROGRAM}
onmessage = ({ data }) => help(data, (said) => postMessage(said));`,
};
