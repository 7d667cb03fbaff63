/**
 * The allocator of tfjs's WebAssembly module, which does not say when its memory is full: a tensor that does not fit
 * gets address 0, or the address of a block that is too small, and its values overwrite whatever lies there.
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

/** Makes tfjs itself throw what `full` makes when its memory is full; once per module. */
export function guardAllocator(wasm: AllocatingModule, full: FullMemory): void {
  if (wasm[GUARDED] === true) return;
  wasm[GUARDED] = true;
  // The first call of each replaces the function on the module.
  wasm._free(wasm._malloc(1));
  unguarded.set(wasm, wasm._malloc);
  wasm._malloc = (bytes) => allocateIn(wasm, bytes, full);
}
