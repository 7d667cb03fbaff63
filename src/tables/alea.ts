/**
 * The generator of random numbers that TensorFlow.js draws its tensors from, whose state it does not expose: Alea
 * (Baagøe, "Better random numbers for JavaScript", 2010), a multiply-with-carry generator on float64. Seeds give the
 * numbers that they give in tfjs, to the bit.
 */

const PARTS = 2 ** 32;
const PART = 2 ** -32;
const MULTIPLIER = 2091639;
const MASH_START = 0xefc8249d;
const MASH_MULTIPLIER = 0.02519603282416938;

/** Mixes texts to fractions of 32 bits; what came before counts too. */
function masher(): (text: string) => number {
  let mixed = MASH_START;
  return (text) => {
    for (let i = 0; i < text.length; i++) {
      mixed += text.charCodeAt(i);
      const spread = MASH_MULTIPLIER * mixed;
      const whole = spread >>> 0;
      const product = (spread - whole) * whole;
      const low = product >>> 0;
      mixed = low + (product - low) * PARTS;
    }
    return (mixed >>> 0) * PART;
  };
}

/** Numbers that are made at once. */
const AT_ONCE = 1024;

export class Alea {
  readonly #state: [number, number, number];
  #carry = 1;
  readonly #made = new Float64Array(AT_ONCE);
  #at = AT_ONCE;

  constructor(seed: string) {
    const mash = masher();
    const starts = [mash(' '), mash(' '), mash(' ')] as const;
    this.#state = starts.map((start) => {
      const less = start - mash(seed);
      return less < 0 ? less + 1 : less;
    }) as [number, number, number];
  }

  /** The next number, from 0 to below 1. */
  next(): number {
    if (this.#at === AT_ONCE) this.#make();
    return this.#made[this.#at++]!;
  }

  /** The state stays in local variables: what an object holds is fetched anew for each number. */
  #make(): void {
    let [a, b, c] = this.#state;
    let carry = this.#carry;
    const made = this.#made;
    for (let i = 0; i < AT_ONCE; i++) {
      const sum = MULTIPLIER * a + carry * PART;
      a = b;
      b = c;
      carry = sum | 0;
      c = sum - carry;
      made[i] = c;
    }
    [this.#state[0], this.#state[1], this.#state[2]] = [a, b, c];
    this.#carry = carry;
    this.#at = 0;
  }
}
