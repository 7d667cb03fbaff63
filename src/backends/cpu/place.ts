/** Where the live values of an owned table lie: an array of JavaScript, or a part of a WebAssembly memory. */
import type { KernelSet } from '../kernel_set.js';
import type { WasmHeap } from '../wasm/heap.js';

export interface Place {
  /** A view of the live values, good until the next allocation in the same memory: never keep it. */
  view(): Float32Array;
  /** Makes new memory zeros. */
  clear(): void;
  /** Gives the memory back. */
  free(): void;
  /** Whether an implementation runs here without copies. */
  suits(set: KernelSet): boolean;
}

class ArrayPlace implements Place {
  constructor(private readonly array: Float32Array) {}
  view(): Float32Array {
    return this.array;
  }
  /** New arrays are zeros; writing them would take memory that is still unused. */
  clear(): void {
    return;
  }
  free(): void {
    return;
  }
  suits(set: KernelSet): boolean {
    return heapOf(set) === null;
  }
}

class HeapPlace implements Place {
  private address: number;
  constructor(
    private readonly heap: WasmHeap,
    private readonly length: number,
  ) {
    this.address = heap.malloc(4 * length, 'table');
  }
  view(): Float32Array {
    return new Float32Array(this.heap.memory.buffer, this.address, this.length);
  }
  clear(): void {
    this.view().fill(0);
  }
  free(): void {
    this.heap.free(this.address);
  }
  suits(set: KernelSet): boolean {
    return heapOf(set) === this.heap;
  }
}

/** The memory that an implementation runs in; null for those that take any array. */
export function heapOf(set: KernelSet): WasmHeap | null {
  return (set as KernelSet & { readonly heap?: WasmHeap }).heap ?? null;
}

/** Memory of our own that suits an implementation. */
export function placeFor(set: KernelSet, length: number): Place {
  const heap = heapOf(set);
  if (heap !== null) return new HeapPlace(heap, length);
  return new ArrayPlace(set.allocate(length));
}
