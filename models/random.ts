/** Random numbers that a seed repeats. */

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Uniform in [0, 1) (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  }

  /** Whole and uniform in [0, end). */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** The numbers 0 .. count - 1 in random order (Fisher-Yates). */
  permutation(count: number): Int32Array {
    const order = Int32Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    return order;
  }

  /** Places, drawn without repetitions with chances in proportion to the exponentials of these numbers. */
  drawOrder(exponents: ArrayLike<number>): Int32Array {
    // They are those of the largest sums with Gumbel's noise.
    const noisy = Float64Array.from(exponents, (each) => each - Math.log(-Math.log(1 - this.next())));
    return Int32Array.from(noisy.keys()).sort((a, b) => noisy[b]! - noisy[a]!);
  }

  /** One in `share` of the numbers 0 .. count - 1, at least one, and the others. */
  split(count: number, share: number): [picked: Int32Array, others: Int32Array] {
    const order = this.permutation(count);
    const end = Math.max(1, Math.floor(count / share));
    return [order.subarray(0, end), order.subarray(end)];
  }
}
