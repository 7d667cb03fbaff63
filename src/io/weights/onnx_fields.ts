/** Fields of a message of Protocol Buffers in a file, of which only the small ones are read. */
import { ValueError, described } from '../../base/errors.js';
import type { ByteSource } from '../byte_source.js';

/** A part of a file. */
export interface Range {
  readonly at: number;
  readonly length: number;
}

export interface FieldPlace extends Range {
  readonly number: number;
  /** Whether it holds bytes; else it is the number `value`, or lies in `length` bytes. */
  readonly isBytes: boolean;
  readonly value: bigint;
}

const WINDOW = 2 ** 16;

/** A place in a file, which is read in windows. */
export class FieldReader {
  readonly #window = new Uint8Array(WINDOW);
  #from = 0;
  #filled = 0;
  at: number;

  constructor(
    readonly source: ByteSource,
    range: Range,
  ) {
    this.at = range.at;
    this.end = range.at + range.length;
  }

  readonly end: number;

  refuse(found: string): never {
    throw new ValueError('source', 'a file of ONNX', described(`${this.source.name}, ${found}`));
  }

  #byte(): number {
    if (this.at >= this.end) this.refuse('which ends within a field');
    if (this.at < this.#from || this.at >= this.#from + this.#filled) {
      this.#from = this.at;
      this.#filled = this.source.read(this.at, this.#window.subarray(0, Math.min(WINDOW, this.end - this.at)));
      if (this.#filled === 0) this.refuse('which ends within a field');
    }
    return this.#window[this.at++ - this.#from]!;
  }

  varint(): bigint {
    let [low, high, shift] = [0, 0n, 0];
    for (; shift < 28; shift += 7) {
      const byte = this.#byte();
      low += (byte & 127) * 2 ** shift;
      if (byte < 128) return BigInt(low);
    }
    for (; shift < 70; shift += 7) {
      const byte = this.#byte();
      high |= BigInt(byte & 127) << BigInt(shift);
      if (byte < 128) return BigInt.asUintN(64, BigInt(low) | high);
    }
    return this.refuse('with a number of more than 64 bits');
  }

  /** Passes over a field and says where it lies. */
  next(): FieldPlace | null {
    if (this.at === this.end) return null;
    const tag = Number(this.varint());
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (number === 0 || number >= 2 ** 29) this.refuse(`with a field of number ${number}`);
    if (wire === 0) {
      const at = this.at;
      const value = this.varint();
      return { number, isBytes: false, value, at, length: this.at - at };
    }
    const length = wire === 1 ? 8 : wire === 5 ? 4 : wire === 2 ? Number(this.varint()) : NaN;
    if (Number.isNaN(length)) this.refuse(`with a field of wire type ${wire}`);
    const at = this.at;
    if (length > this.end - at) this.refuse('which is cut off');
    this.at += length;
    return { number, isBytes: wire === 2, value: 0n, at, length };
  }
}
