import type { BagOptions } from '../../../src/backends/kernel_set.js';
import type { Heap } from '../../../src/backends/wasm/heap.js';
import { FLOAT32 } from '../../../src/codecs/float32.js';
import { WasmKernels } from '../../../src/backends/wasm/kernels.js';

const SUM: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

/** Hands out blocks one after the other, from an address on. */
function bumpHeap(memory: WebAssembly.Memory, from: number): Heap {
  let next = from;
  return {
    memory,
    malloc(bytes) {
      const address = next;
      next += Math.ceil(bytes / 16) * 16;
      const missing = next - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / 65536));
      return address;
    },
    free: () => undefined,
  };
}

/** Pools rows 1 + 2 of a small table of ones that lies in the memory. */
function poolIn(heap: Heap): number[] {
  const kernels = new WasmKernels(heap);
  const [table, values, rowSplits, pooled] = [4 * 15, 8, 8, 20].map((bytes) => heap.malloc(bytes, 'values'));
  const { buffer } = heap.memory;
  new Float32Array(buffer, table, 15).fill(1);
  new Int32Array(buffer, values, 2).set([1, 2]);
  new Int32Array(buffer, rowSplits, 2).set([0, 2]);
  const bags = { values: values!, rowSplits: rowSplits!, weights: 0, nnz: 2, batch: 1 };
  kernels.embeddingBag({ address: table!, codec: FLOAT32, rows: 3, dim: 5 }, bags, SUM, pooled!);
  return Array.from(new Float32Array(buffer, pooled, 5));
}

describe('the C core inside a memory', () => {
  it('runs in memories of any kind', () => {
    const kinds = [{ initial: 1 }, { initial: 1, maximum: 65536 }, { initial: 1, maximum: 65536, shared: true }];
    for (const kind of kinds) expect(poolIn(bumpHeap(new WebAssembly.Memory(kind), 16))).toEqual([2, 2, 2, 2, 2]);
  });

  it('runs above 2 GiB, where addresses are negative as 32-bit numbers', () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
    expect(poolIn(bumpHeap(memory, 2 ** 31 + 2 ** 20))).toEqual([2, 2, 2, 2, 2]);
  });

  it('touches nothing but what it was given', () => {
    const memory = new WebAssembly.Memory({ initial: 4 });
    const heap = bumpHeap(memory, 65536);
    new Uint8Array(memory.buffer, 0, 65536).fill(0xab);
    poolIn(heap);
    expect(new Uint8Array(memory.buffer, 0, 65536).every((byte) => byte === 0xab)).toBeTrue();
  });
});
