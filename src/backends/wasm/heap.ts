/** Memory that WebAssembly kernels run in, and an allocator for a memory of our own. */
import { described, ValueError } from '../../base/errors.js';

/** A memory and who hands out its parts. */
export interface Heap {
  readonly memory: WebAssembly.Memory;
  /**
   * Returns the address of `bytes` bytes, a multiple of 16 at least, never 0. The memory may grow, which detaches every view of
   * it. ValueError, in the name of the argument that needs them, where the memory cannot hold them.
   */
  malloc(bytes: number, argument: string): number;
  /** Gives back what malloc returned. */
  free(address: number): void;
}

export const PAGE_BYTES = 65536;
const MAX_PAGES = 65536;
/** A line of the processor's caches: a row that straddles two costs twice as many reads. */
export const ALIGNMENT = 64;
/** Memory grows by an eighth at least, so that a thousand small requests do not detach the views a thousand times. */
const GROWTH = 8;

/** The error for a request beyond a memory. */
export function beyondMemory(argument: string, wanted: number, available: number): ValueError {
  return new ValueError(
    argument,
    `at most ${available} bytes, which is what the WebAssembly memory still holds`,
    described(`${wanted} bytes`),
  );
}

interface Block {
  address: number;
  bytes: number;
}

/** What a WasmHeap holds. */
export interface HeapStatistics {
  readonly blocks: number;
  readonly bytesInUse: number;
  /** Size of the memory, which never shrinks. */
  readonly capacity: number;
}

/** A WebAssembly memory with a first-fit allocator kept outside it. */
export class WasmHeap implements Heap {
  readonly memory: WebAssembly.Memory;
  private readonly limit: number;
  /** Free blocks below `end`, by address, none beside another. */
  private readonly holes: Block[] = [];
  private readonly used = new Map<number, number>();
  private bytesInUse = 0;
  /** Everything from here on is free; address 0 stays unused, it stands for "none". */
  private end = ALIGNMENT;

  /** `shared`: other threads can see the memory. */
  constructor(maximumPages = MAX_PAGES, shared = false) {
    this.memory = new WebAssembly.Memory({ initial: 1, maximum: maximumPages, shared });
    this.limit = maximumPages * PAGE_BYTES;
  }

  malloc(bytes: number, argument: string): number {
    const size = Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
    const address = this.takeHole(size) ?? this.extend(size);
    if (address === null) throw beyondMemory(argument, bytes, this.available());
    this.used.set(address, size);
    this.bytesInUse += size;
    return address;
  }

  free(address: number): void {
    const bytes = this.used.get(address);
    if (bytes === undefined) return;
    this.used.delete(address);
    this.bytesInUse -= bytes;
    this.addHole({ address, bytes });
  }

  statistics(): HeapStatistics {
    return { blocks: this.used.size, bytesInUse: this.bytesInUse, capacity: this.memory.buffer.byteLength };
  }

  /** Bytes of the largest request that can still be met. */
  available(): number {
    return this.holes.reduce((most, hole) => Math.max(most, hole.bytes), this.limit - this.end);
  }

  private takeHole(size: number): number | null {
    const index = this.holes.findIndex((hole) => hole.bytes >= size);
    if (index < 0) return null;
    const hole = this.holes[index]!;
    const { address } = hole;
    hole.address += size;
    hole.bytes -= size;
    if (hole.bytes === 0) this.holes.splice(index, 1);
    return address;
  }

  private extend(size: number): number | null {
    const end = this.end + size;
    if (end > this.limit || !this.reach(end)) return null;
    const address = this.end;
    this.end = end;
    return address;
  }

  /** Grows the memory until it holds `end` bytes; false where the system refuses. */
  private reach(end: number): boolean {
    const have = this.memory.buffer.byteLength;
    if (end <= have) return true;
    const need = Math.ceil((end - have) / PAGE_BYTES);
    const generous = Math.min(Math.max(need, Math.floor(have / GROWTH / PAGE_BYTES)), (this.limit - have) / PAGE_BYTES);
    return this.grow(generous) || this.grow(need);
  }

  private grow(pages: number): boolean {
    try {
      this.memory.grow(pages);
      return true;
    } catch {
      return false;
    }
  }

  private addHole(freed: Block): void {
    let index = this.holes.findIndex((hole) => hole.address > freed.address);
    if (index < 0) index = this.holes.length;
    const before = this.holes[index - 1];
    const after = this.holes[index];
    if (after !== undefined && freed.address + freed.bytes === after.address) {
      freed.bytes += after.bytes;
      this.holes.splice(index, 1);
    }
    if (before !== undefined && before.address + before.bytes === freed.address) {
      before.bytes += freed.bytes;
      freed = before;
    } else {
      this.holes.splice(index, 0, freed);
    }
    if (freed.address + freed.bytes === this.end) {
      this.end = freed.address;
      this.holes.pop();
    }
  }
}
