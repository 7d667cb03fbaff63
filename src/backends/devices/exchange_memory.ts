/** The exchange memory: an array that is replaced when it grows, or memory that the host shares with workers. */
import { RuntimeError, described } from '../../base/errors.js';
import type { ExchangeMemory } from './device.js';
import { uniformSplits } from '../../ids/row_splits.js';

const KEPT = 32;

export class UniformSplits {
  /** The longest so far, by length of bags: fewer bags are its beginning. */
  private readonly known = new Map<number, Int32Array>();

  /** Splits of `bags` bags of `length` ids. For reading only. */
  of(bags: number, length: number): Int32Array {
    let splits = this.known.get(length);
    if (splits === undefined || splits.length <= bags) {
      if (splits === undefined && this.known.size === KEPT) this.known.clear();
      splits = uniformSplits(bags, length);
      this.known.set(length, splits);
    }
    return splits.subarray(0, bags + 1);
  }
}

/** Numbers that one command needs for itself, in memory that the next one uses again: fresh pages cost more than a copy. */
export class Scratch {
  private memory = new Float32Array(0);
  private used = 0;
  private wanted = 0;

  /** All that was taken is free again. */
  reset(): void {
    if (this.wanted > this.memory.length) this.memory = new Float32Array(this.wanted);
    this.used = 0;
    this.wanted = 0;
  }

  /** Room for so many ints, like `take`. */
  takeInts(length: number): Int32Array {
    const { buffer, byteOffset } = this.take(length);
    return new Int32Array(buffer, byteOffset, length);
  }

  /** Room for so many floats, until the next `reset`; it may hold anything. */
  take(length: number): Float32Array {
    this.wanted += length;
    const end = this.used + length;
    // What did not fit this time fits the next.
    if (end > this.memory.length) return new Float32Array(length);
    const taken = this.memory.subarray(this.used, end);
    this.used = end;
    return taken;
  }

  close(): void {
    this.memory = new Float32Array(0);
    this.used = 0;
    this.wanted = 0;
  }
}

/** A memory of WebAssembly grows where it lies; a buffer of JavaScript is replaced, and sent to the workers again. */
export type SharedSource = WebAssembly.Memory | SharedArrayBuffer;

const PAGE_BYTES = 65536;
const MOST_PAGES = 65536;
const MOST_BYTES = MOST_PAGES * PAGE_BYTES;
/** Grows by a quarter at least, where there is room for that. */
const GROWTH = 4;

/** `grow`: whether there are now so many bytes. RuntimeError where there cannot be as many as are needed. */
function growTo(need: number, have: number, grow: (bytes: number) => boolean): void {
  const generous = Math.min(have + Math.floor(have / GROWTH), MOST_BYTES);
  if (generous > need && grow(generous)) return;
  if (need <= MOST_BYTES && grow(need)) return;
  const most = `at most ${MOST_BYTES} bytes, and no more than this machine has`;
  throw new RuntimeError('exchange memory', most, described(`${need} bytes`), 'Use smaller batches.');
}

/** For devices in line. */
export class InlineExchange implements ExchangeMemory {
  floats = new Float32Array(0);
  ints = new Int32Array(this.floats.buffer);

  reserve(words: number, kept = 0): void {
    const have = this.floats.byteLength;
    if (words * 4 > have) growTo(words * 4, have, (bytes) => this.replace(bytes, kept));
  }

  private replace(bytes: number, kept: number): boolean {
    try {
      const buffer = new ArrayBuffer(Math.ceil(bytes / 4) * 4);
      new Int32Array(buffer).set(this.ints.subarray(0, kept));
      this.floats = new Float32Array(buffer);
      this.ints = new Int32Array(buffer);
      return true;
    } catch {
      return false;
    }
  }
}

function isMemory(source: SharedSource): source is WebAssembly.Memory {
  return typeof WebAssembly === 'object' && source instanceof WebAssembly.Memory;
}

/** What a worker sees of the exchange memory; the host sees it in the same way. */
export class SharedView {
  private buffer: ArrayBufferLike | null = null;
  private asFloats: Float32Array = new Float32Array(0);
  private asInts: Int32Array = new Int32Array(0);

  constructor(private current: SharedSource) {}

  get source(): SharedSource {
    return this.current;
  }

  set source(source: SharedSource) {
    this.current = source;
  }

  get floats(): Float32Array {
    this.refresh();
    return this.asFloats;
  }

  get ints(): Int32Array {
    this.refresh();
    return this.asInts;
  }

  /** Sees at least so many words, which the other side says that there are. */
  see(words: number): void {
    // A runtime may tell this thread late that the memory has grown; growing by nothing makes it look.
    if (this.floats.length < words && isMemory(this.current)) this.current.grow(0);
  }

  private refresh(): void {
    const buffer = isMemory(this.current) ? this.current.buffer : this.current;
    if (buffer === this.buffer) return;
    this.buffer = buffer;
    this.asFloats = new Float32Array(buffer);
    this.asInts = new Int32Array(buffer);
  }
}

/** The largest shared memory of WebAssembly, of which nothing is used yet; null where there is none to be had. */
function growingMemory(): WebAssembly.Memory | null {
  try {
    return new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES, shared: true });
  } catch {
    return null;
  }
}

/** For devices that are workers. */
export class SharedExchange implements ExchangeMemory {
  private readonly view: SharedView;

  /** `memory`: null for a buffer of JavaScript. */
  constructor(memory: WebAssembly.Memory | null = growingMemory()) {
    this.view = new SharedView(memory ?? new SharedArrayBuffer(PAGE_BYTES));
  }

  get source(): SharedSource {
    return this.view.source;
  }

  get floats(): Float32Array {
    return this.view.floats;
  }

  get ints(): Int32Array {
    return this.view.ints;
  }

  reserve(words: number, kept = 0): void {
    const have = this.floats.length * 4;
    if (words * 4 <= have) return;
    const { source } = this.view;
    growTo(words * 4, have, (bytes) => (isMemory(source) ? grow(source, have, bytes) : this.replace(bytes, kept)));
  }

  private replace(bytes: number, kept: number): boolean {
    try {
      const buffer = new SharedArrayBuffer(Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES);
      new Int32Array(buffer).set(this.ints.subarray(0, kept));
      this.view.source = buffer;
      return true;
    } catch {
      return false;
    }
  }
}

function grow(memory: WebAssembly.Memory, have: number, bytes: number): boolean {
  try {
    memory.grow(Math.ceil((bytes - have) / PAGE_BYTES));
    return true;
  } catch {
    return false;
  }
}
