/** Seeded random numbers (mulberry32): the same seed gives the same numbers on every machine. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number in [0, high). */
  whole(high) {
    return Math.floor(this.next() * high);
  }

  /** Whole numbers in [0, high). */
  ids(length, high) {
    return Int32Array.from({ length }, () => this.whole(high));
  }

  /** Values in [low, high). */
  floats(length, low = -1, high = 1) {
    return Float32Array.from({ length }, () => low + this.next() * (high - low));
  }
}
