/**
 * Quantiles of the normal distribution, the same to the bit in every engine: nothing but sums, products, quotients and
 * one square root, where Math.log, Math.sin and Math.exp may differ in their last bits.
 */

/** Each power of two of the probability is cut into quarters, and each of those has a polynomial of degree 5. */
const OCTAVES = 32;
const QUARTERS = 4;
const TERMS = 6;
/** Where polynomials meet the function (Chebyshev's nodes), descending. */
const NODES = [
  0.9659258262890683, 0.7071067811865476, 0.25881904510252074, -0.25881904510252074, -0.7071067811865476,
  -0.9659258262890683,
];

/** e^-y for y >= 0. */
function expMinus(y: number): number {
  const small = -y / 256;
  let sum = 1;
  for (let n = 12; n > 0; n--) sum = 1 + (small / n) * sum;
  for (let squared = 0; squared < 8; squared++) sum *= sum;
  return sum;
}

const ROOT_OF_2_PI = Math.sqrt(2 * 3.141592653589793);

function density(x: number): number {
  return expMinus((x * x) / 2) / ROOT_OF_2_PI;
}

/** Probability of a value above x >= 0: a series near the middle, a continued fraction in the tail. */
export function upperTail(x: number): number {
  if (x > 2.5) {
    let fraction = x;
    for (let n = 100; n > 0; n--) fraction = x + n / fraction;
    return density(x) / fraction;
  }
  let [sum, term] = [x, x];
  for (let n = 3; n < 80; n += 2) {
    term *= (x * x) / n;
    sum += term;
  }
  return 0.5 - density(x) * sum;
}

/** Coefficients, lowest first, of the polynomial through (NODES[i], values[i]). */
function interpolate(values: readonly number[]): number[] {
  const divided = [...values];
  for (let order = 1; order < TERMS; order++) {
    for (let i = TERMS - 1; i >= order; i--) {
      divided[i] = (divided[i]! - divided[i - 1]!) / (NODES[i]! - NODES[i - order]!);
    }
  }
  const coefficients = new Array<number>(TERMS).fill(0);
  for (let i = TERMS - 1; i >= 0; i--) {
    for (let power = TERMS - 1; power > 0; power--) {
      coefficients[power] = coefficients[power - 1]! - NODES[i]! * coefficients[power]!;
    }
    coefficients[0] = divided[i]! - NODES[i]! * coefficients[0]!;
  }
  return coefficients;
}

function makeTable(): Float64Array {
  const table = new Float64Array(OCTAVES * QUARTERS * TERMS);
  let x = 0;
  for (let octave = 0; octave < OCTAVES; octave++) {
    for (let quarter = QUARTERS - 1; quarter >= 0; quarter--) {
      const values = NODES.map((node) => {
        const probability = (1 + (quarter + (node + 1) / 2) / QUARTERS) / 2 ** (octave + 2);
        // Newton's steps from the node before come from the side where the tail is convex, and cannot overshoot.
        for (let step = 0; step < 6; step++) x += (upperTail(x) - probability) / density(x);
        return x;
      });
      table.set(interpolate(values), (octave * QUARTERS + quarter) * TERMS);
    }
  }
  return table;
}

let made: Float64Array | null = null;

/** What `quantile` looks up; made at first use, in a few milliseconds. */
export function quantileTable(): Float64Array {
  return (made ??= makeTable());
}

/**
 * The positive value above which a normal value lies with probability n / 2^33, to 1e-9; n is from 1 to 2^32 - 1, or such
 * a number less 2^32; a fraction does not count.
 */
export function quantile(table: Float64Array, n: number): number {
  const octave = Math.clz32(n);
  const leading = n << octave;
  const at = ((octave << 2) | ((leading >>> 29) & 3)) * TERMS;
  const s = (leading & 0x1fffffff) * 2 ** -28 - 1;
  const upper = table[at + 3]! + s * (table[at + 4]! + s * table[at + 5]!);
  return table[at]! + s * (table[at + 1]! + s * (table[at + 2]! + s * upper));
}
