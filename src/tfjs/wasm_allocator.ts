/**
 * The allocator of tfjs's WebAssembly module, which does not say when its memory is full: a tensor that does not fit
 * gets address 0, or the address of a block that is too small, and its values overwrite whatever lies there. Nor does it
 * begin blocks at a line of the processor's caches: rows of 32 columns then lie in three lines in place of two.
 */

/** The part of the module (tfjs-backend-wasm 4) that is used. */
export interface AllocatingModule {
  _malloc: (bytes: number) => number;
  _free: (address: number) => void;
  [GUARDED]?: true;
}

/** Makes the error for a request that the memory cannot hold; `available`: bytes of one that it could. */
export type FullMemory = (bytes: number, available: number) => Error;

/** Marks a module whose allocator is guarded; global, as two builds of this package may be loaded. */
const GUARDED: unique symbol = Symbol.for('tfjs-embeddings.guarded') as never;
/** The allocator of tfjs never goes above this. */
const LIMIT = 4294901760;
const STEP = 1 << 20;
const LINE = 64;
/** Blocks from this size on begin at a line. */
const LEAST_ALIGNED = 4096;

const unguarded = new WeakMap<AllocatingModule, AllocatingModule['_malloc']>();

/** Returns the address of `bytes` bytes, or throws what `full` makes. */
export function allocateIn(wasm: AllocatingModule, bytes: number, full: FullMemory): number {
  const malloc = unguarded.get(wasm) ?? wasm._malloc;
  const address = bytes <= LIMIT ? malloc(bytes) >>> 0 : 0;
  if (address === 0 && bytes > 0) throw full(bytes, available(wasm, malloc, Math.min(bytes, LIMIT)));
  return address;
}

/** Bytes of the largest request below `bytes` that can be met, to a MiB: tried out, as the allocator does not tell. */
function available(wasm: AllocatingModule, malloc: AllocatingModule['_malloc'], bytes: number): number {
  let low = 0;
  let high = Math.ceil(bytes / STEP);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const address = malloc(middle * STEP) >>> 0;
    if (address === 0) {
      high = middle;
    } else {
      wasm._free(address);
      low = middle;
    }
  }
  return low * STEP;
}

/** Makes tfjs itself throw what `full` makes when its memory is full, and begin large tensors at lines; once per module. */
export function guardAllocator(wasm: AllocatingModule, full: FullMemory): void {
  if (wasm[GUARDED] === true) return;
  wasm[GUARDED] = true;
  // The first call of each replaces the function on the module.
  wasm._free(wasm._malloc(1));
  const { _malloc: malloc, _free: free } = wasm;
  /** Where blocks begin whose address was moved to a line. */
  const begins = new Map<number, number>();
  unguarded.set(wasm, malloc);
  wasm._malloc = (bytes) => {
    if (bytes < LEAST_ALIGNED || bytes > LIMIT - LINE) return allocateIn(wasm, bytes, full);
    const begin = allocateIn(wasm, bytes + LINE, () => full(bytes, available(wasm, malloc, bytes)));
    const address = Math.ceil(begin / LINE) * LINE;
    if (address !== begin) begins.set(address, begin);
    return address;
  };
  wasm._free = (address) => {
    const begin = begins.get(address) ?? address;
    begins.delete(address);
    free(begin);
  };
}
