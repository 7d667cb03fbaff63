/** The memory of tfjs's own wasm backend: our kernels run on its tensors where they lie. */
import type * as tf from '@tensorflow/tfjs';
import { beyondMemory, type Heap } from './heap.js';

/** What we use of BackendWasm (tfjs-backend-wasm 4). */
export interface WasmBackend extends tf.KernelBackend {
  readonly dataIdMap: { get(dataId: tf.DataId): WasmRecord };
  readonly wasm: WasmModule;
  makeOutput(shape: number[], dtype: tf.DataType): tf.TensorInfo;
}

interface WasmRecord {
  readonly id: number;
  readonly memoryOffset: number;
  readonly shape: number[];
}

interface WasmModule {
  /** In builds with threads the memory is made outside the module. */
  readonly wasmMemory?: WebAssembly.Memory;
  readonly asm: { readonly memory?: WebAssembly.Memory };
  /** Made anew when the memory grows. */
  readonly HEAPU8: Uint8Array;
  _malloc: (bytes: number) => number;
  _free: (address: number) => void;
  readonly tfjs: {
    registerTensor(id: number, size: number, address: number): void;
    disposeData(id: number): void;
  };
  [GUARDED]?: true;
}

/** Marks a module whose allocator is guarded; global, as two builds of this package may be loaded. */
const GUARDED: unique symbol = Symbol.for('tfjs-embeddings.guarded') as never;
/** The allocator of tfjs never goes above this. */
const LIMIT = 4294901760;
const STEP = 1 << 20;

/** The allocator of a tfjs module as a Heap. */
export class TfjsHeap implements Heap {
  readonly memory: WebAssembly.Memory;

  constructor(private readonly wasm: WasmModule) {
    this.memory = (wasm.wasmMemory ?? wasm.asm.memory)!;
  }

  malloc(bytes: number, argument: string): number {
    return allocate(this.wasm, bytes, argument);
  }

  free(address: number): void {
    this.wasm._free(address);
  }
}

const unguarded = new WeakMap<WasmModule, WasmModule['_malloc']>();

function allocate(wasm: WasmModule, bytes: number, argument: string): number {
  const malloc = unguarded.get(wasm) ?? wasm._malloc;
  const address = bytes <= LIMIT ? malloc(bytes) >>> 0 : 0;
  if (address === 0 && bytes > 0) throw beyondMemory(argument, bytes, available(wasm, malloc, Math.min(bytes, LIMIT)));
  return address;
}

/** Bytes of the largest request below `bytes` that can be met, to a MiB: tried out, as the allocator does not tell. */
function available(wasm: WasmModule, malloc: WasmModule['_malloc'], bytes: number): number {
  let low = 0;
  let high = Math.ceil(bytes / STEP);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const address = malloc(middle * STEP) >>> 0;
    if (address === 0) {
      high = middle;
    } else {
      wasm._free(address);
      low = middle;
    }
  }
  return low * STEP;
}

/**
 * Makes tfjs say when its memory is full. As it comes, a tensor that does not fit gets address 0, or the address of a
 * block that is too small, and its values overwrite whatever lies there.
 */
export function guardMemory(backend: tf.KernelBackend): void {
  const { wasm } = backend as WasmBackend;
  if (wasm[GUARDED] === true) return;
  wasm[GUARDED] = true;
  // The first call of each replaces the function on the module.
  wasm._free(wasm._malloc(1));
  unguarded.set(wasm, wasm._malloc);
  wasm._malloc = (bytes) => allocate(wasm, bytes, 'shape');
}
