/** Seeded random numbers: the same seed gives the same numbers on every machine. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
    // Neighbouring seeds start alike; a few rounds part them.
    for (let i = 0; i < 4; i++) this.next();
  }

  /** A number in [0, 1) (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number in [low, high). */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.whole(0, items.length)]!;
  }

  /** Values in [low, high). */
  floats(length: number, low = -1, high = 1): Float32Array {
    const drawn = new Float32Array(length);
    // Float32Array.from takes four times as long.
    for (let i = 0; i < length; i++) drawn[i] = low + this.next() * (high - low);
    return drawn;
  }
}

/** Chances that add up, by rank: rank r is met (r + 1)^-exponent as often as the first. */
export function zipfSums(ranks: number, exponent: number): Float64Array {
  const sums = new Float64Array(ranks);
  let sum = 0;
  for (let rank = 0; rank < ranks; rank++) sums[rank] = sum += (rank + 1) ** -exponent;
  return sums;
}

/** A rank, by chances that add up. */
export function drawnRank(sums: Float64Array, random: Random): number {
  const at = random.next() * sums.at(-1)!;
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
