/** Arrays of a call in the memory of WebAssembly: what is copied in, and what comes back. */
import { WasmHeap } from '../../../src/backends/wasm/heap.js';
import { Staging, type Direction } from '../../../src/backends/wasm/staging.js';

describe('arrays of a call', () => {
  it('are copied in and back as they are read and written', () => {
    const heap = new WasmHeap();
    const arrays = (['in', 'out', 'inout'] as Direction[]).map((direction, i) => ({
      array: Float32Array.of(i + 1, i + 1),
      direction,
    }));
    const staging = new Staging(heap, arrays);
    const inside = staging.addresses.map((address) => new Float32Array(heap.memory.buffer, address, 2));
    expect([inside[0]![0], inside[2]![0]]).toEqual([1, 3]);
    inside.forEach((each) => each.fill(9));
    staging.copyBack();
    expect(arrays.map(({ array }) => [...array])).toEqual([[1, 1], [9, 9], [9, 9]]); // prettier-ignore
    staging.release();
    expect(heap.statistics().bytesInUse).toBe(0);
  });

  it('that are read only lie there once, and those that lie there already stay', () => {
    const heap = new WasmHeap();
    const read = Int32Array.of(4, 5, 6);
    const there = new Float32Array(heap.memory.buffer, heap.malloc(8, 'values'), 2);
    const staging = new Staging(heap, [
      { array: read, direction: 'in' },
      { array: there, direction: 'inout' },
      { array: read, direction: 'in' },
    ]);
    const [first, second, third] = staging.addresses;
    expect(third).toBe(first);
    expect(second).toBe(there.byteOffset);
    expect([...new Int32Array(heap.memory.buffer, first, 3)]).toEqual([4, 5, 6]);
    staging.release();
  });
});
