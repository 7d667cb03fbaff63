/** Arrays in memory of every kind, for hostile calls. */
import type { Random } from '../../../test/helpers/random.js';

const MARGIN = 64;
const PAGE = 65536;

/** What newer engines have and the types of ES2022 lack. */
type Resizable = ArrayBuffer & { resize(bytes: number): void };
const ResizableBuffer = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => Resizable;

/** Makes arrays. Those in WebAssembly memory lie on top of each other; the others are apart, with room around. */
export class HostileArrays {
  private readonly memories = [
    new WebAssembly.Memory({ initial: 1 }),
    new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }),
  ];

  constructor(private readonly random: Random) {}

  floats(length: number): Float32Array {
    const array = new Float32Array(...this.room(length * 4), length);
    for (let i = 0; i < length; i++) {
      array[i] = this.random.chance(0.05) ? this.random.pick([NaN, Infinity, -0, 1e38]) : this.random.next();
    }
    return array;
  }

  ints(values: ArrayLike<number>): Int32Array {
    const array = new Int32Array(...this.room(values.length * 4), values.length);
    array.set(values);
    return array;
  }

  bytes(values: ArrayLike<number>): Uint8Array {
    const array = new Uint8Array(...this.room(values.length), values.length);
    array.set(values);
    return array;
  }

  /** An array whose memory went elsewhere. */
  detached(): Float32Array | Int32Array {
    const array = this.random.chance(0.5) ? new Float32Array(8) : new Int32Array(8);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  }

  /** An array whose memory shrank, below it or into it, or that grows with its memory. */
  resized(): Float32Array | Int32Array {
    const { random } = this;
    const Type = random.pick([Float32Array, Int32Array]);
    const buffer = new ResizableBuffer(64, { maxByteLength: 256 });
    const array = random.chance(0.5) ? new Type(buffer) : new Type(buffer, 16, random.whole(0, 12));
    buffer.resize(4 * random.whole(0, 64));
    return array;
  }

  private room(bytes: number): [buffer: ArrayBuffer, offset: number] {
    const { random } = this;
    const offset = MARGIN + 4 * random.whole(0, 4);
    const whole = offset + bytes + MARGIN;
    const kind = random.whole(0, 10);
    if (kind === 0) return [new SharedArrayBuffer(whole) as unknown as ArrayBuffer, offset];
    if (kind <= 2 && whole <= PAGE) return [this.memories[kind - 1]!.buffer, offset];
    if (kind === 3) return [new ResizableBuffer(whole, { maxByteLength: 2 * whole }), offset];
    return [new ArrayBuffer(whole), offset];
  }
}
