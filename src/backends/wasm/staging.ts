/** Arrays of one kernel call inside the memory: those that lie there already stay, the others are copied. */
import { ALIGNMENT, type Heap } from './heap.js';

/** 'in' is copied in, 'out' copied back, 'inout' both. */
export type Direction = 'in' | 'out' | 'inout';

/** An array that a kernel reads or writes. */
export interface Argument {
  readonly array: Float32Array | Int32Array;
  readonly direction: Direction;
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Memory of one call; `release` must follow, whatever happens. */
export class Staging {
  readonly addresses: number[] = [];
  private readonly staged: { argument: Argument; address: number }[] = [];
  private readonly base: number;

  /** Places the arguments, and `roomBytes` more bytes at `room`. */
  constructor(
    private readonly heap: Heap,
    args: readonly Argument[],
    roomBytes = 0,
  ) {
    // Addresses first: growing the memory detaches the views that come in.
    const buffer = heap.memory.buffer;
    let total = aligned(roomBytes);
    const read = new Map<Argument['array'], number>();
    const offsets = args.map(({ array, direction }) => {
      if (array.buffer === buffer) return null;
      // What is only read is copied once, whatever reads it.
      const known = direction === 'in' ? read.get(array) : undefined;
      if (known !== undefined) return known;
      const offset = total;
      total += aligned(array.byteLength);
      if (direction === 'in') read.set(array, offset);
      return offset;
    });
    this.addresses = args.map(({ array }) => array.byteOffset);
    this.base = total === 0 ? 0 : heap.malloc(total, 'values');
    args.forEach((arg, i) => {
      const offset = offsets[i]!;
      if (offset === null) return;
      const address = this.base + offset;
      this.addresses[i] = address;
      this.staged.push({ argument: arg, address });
      if (arg.direction !== 'out') this.view(arg, address).set(arg.array);
    });
  }

  get room(): number {
    return this.base;
  }

  /** Copies what the kernel wrote back into the arrays that were copied in. */
  copyBack(): void {
    for (const { argument, address } of this.staged) {
      if (argument.direction !== 'in') argument.array.set(this.view(argument, address));
    }
  }

  release(): void {
    if (this.base !== 0) this.heap.free(this.base);
  }

  private view({ array }: Argument, address: number): Float32Array | Int32Array {
    const buffer = this.heap.memory.buffer;
    return array instanceof Int32Array
      ? new Int32Array(buffer, address, array.length)
      : new Float32Array(buffer, address, array.length);
  }
}
