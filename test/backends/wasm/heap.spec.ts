import { PAGE_BYTES, WasmHeap } from '../../../src/backends/wasm/heap.js';
import { ValueError } from '../../../src/base/errors.js';
import { randomNumbers } from './generated_case.js';

describe('WasmHeap', () => {
  it('hands out aligned blocks that never overlap, whatever the order of calls', () => {
    const heap = new WasmHeap(64);
    const random = randomNumbers(7);
    const blocks: { address: number; bytes: number; mark: number }[] = [];
    for (let step = 1; step <= 3000; step++) {
      if (blocks.length > 0 && random() < 0.48) {
        const [block] = blocks.splice(Math.floor(random() * blocks.length), 1);
        const { address, bytes, mark } = block!;
        expect(new Uint8Array(heap.memory.buffer, address, bytes).every((byte) => byte === mark)).toBeTrue();
        heap.free(address);
      } else {
        const bytes = Math.floor(random() * 5000);
        const address = heap.malloc(bytes, 'values');
        const mark = step % 251;
        expect(address % 64).toBe(0);
        expect(address).toBeGreaterThan(0);
        new Uint8Array(heap.memory.buffer, address, bytes).fill(mark);
        blocks.push({ address, bytes, mark });
      }
    }
    expect(heap.statistics().blocks).toBe(blocks.length);
    for (const { address } of blocks) heap.free(address);
    expect(heap.statistics().blocks).toBe(0);
    expect(heap.statistics().bytesInUse).toBe(0);
    expect(heap.available()).toBe(64 * PAGE_BYTES - 64);
  });

  it('uses freed memory again instead of growing', () => {
    const heap = new WasmHeap(1024);
    heap.free(heap.malloc(1 << 20, 'values'));
    const { capacity } = heap.statistics();
    for (let i = 0; i < 100; i++) heap.free(heap.malloc(1 << 20, 'values'));
    expect(heap.statistics().capacity).toBe(capacity);
  });

  it('tells bytes wanted and bytes available when it is full, and goes on', () => {
    const heap = new WasmHeap(4);
    const kept = heap.malloc(PAGE_BYTES, 'values');
    let error: unknown;
    try {
      heap.malloc(4 * PAGE_BYTES, 'table');
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(ValueError);
    const { argument, expected, received } = error as ValueError;
    expect(argument).toBe('table');
    expect(received).toBe(`${4 * PAGE_BYTES} bytes`);
    expect(expected).toContain(`${3 * PAGE_BYTES - 64} bytes`);
    const all = heap.malloc(3 * PAGE_BYTES - 64, 'table');
    expect(() => heap.malloc(1, 'table')).toThrowError(ValueError);
    heap.free(all);
    heap.free(kept);
  });

  it('takes a second free of the same address for nothing', () => {
    const heap = new WasmHeap(4);
    const first = heap.malloc(64, 'values');
    const second = heap.malloc(64, 'values');
    heap.free(first);
    heap.free(first);
    expect(heap.statistics().blocks).toBe(1);
    heap.free(second);
  });
});
