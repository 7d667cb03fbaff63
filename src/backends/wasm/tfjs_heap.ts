/** The memory of tfjs's own wasm backend: our kernels run on its tensors where they lie. */
import type * as tf from '@tensorflow/tfjs';
import { allocateIn, guardAllocator, type AllocatingModule } from '../../tfjs/wasm_allocator.js';
import { beyondMemory, type Heap } from './heap.js';
import { isShared } from './module.js';

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

interface WasmModule extends AllocatingModule {
  /** In builds with threads the memory is made outside the module. */
  readonly wasmMemory?: WebAssembly.Memory;
  readonly asm: { readonly memory?: WebAssembly.Memory };
  /** Made anew when the memory grows. */
  readonly HEAPU8: Uint8Array;
  readonly tfjs: {
    registerTensor(id: number, size: number, address: number): void;
    disposeData(id: number): void;
  };
}

/** The allocator of a tfjs module as a Heap. */
export class TfjsHeap implements Heap {
  readonly memory: WebAssembly.Memory;

  constructor(private readonly wasm: WasmModule) {
    this.memory = (wasm.wasmMemory ?? wasm.asm.memory)!;
  }

  /** Whether other threads can see the memory. */
  get isShared(): boolean {
    return isShared(this.memory.buffer);
  }

  malloc(bytes: number, argument: string): number {
    return allocateIn(this.wasm, bytes, (wanted, available) => beyondMemory(argument, wanted, available));
  }

  free(address: number): void {
    this.wasm._free(address);
  }
}

/** Makes tfjs say when its memory is full. */
export function guardMemory(backend: tf.KernelBackend): void {
  guardAllocator((backend as WasmBackend).wasm, (bytes, available) => beyondMemory('shape', bytes, available));
}
