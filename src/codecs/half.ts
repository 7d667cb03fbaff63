/** float16 as 16 bits of a number, IEEE 754 binary16: read, rounded to the nearest, rounded by chance. */

/** Every larger finite number becomes infinity. */
export const LARGEST_HALF = 65504;
/** 2^-24, the smallest half above 0. */
const UNIT = 2 ** -24;

/** The number that a half stands for. */
export function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * UNIT;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** Whole numbers up to 2^52 to the nearest, ties to even. */
function nearestEven(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/** The nearest half, ties to even; from 65520 on infinity. */
export function nearestHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  if (Number.isNaN(value)) return 0x7e00;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | nearestEven(size / UNIT);
  const exponent = Math.floor(Math.log2(size));
  // The logarithm may be off by one next to a power of two.
  const power = 2 ** exponent > size ? exponent - 1 : 2 ** (exponent + 1) <= size ? exponent + 1 : exponent;
  // A fraction that rounds up to 1024 carries into the exponent, as it should.
  return sign | (((power + 14) << 10) + nearestEven(size / 2 ** (power - 10)));
}

/** Bits of a random word that decide for halves of 2^-14 and more, and for smaller ones. */
const BITS = 13;
const BITS_OF_SMALL = 21;

/** The half below a number from 0 to 65504, towards 0. */
function halfBelow(size: number): number {
  if (size < 2 ** -14) return Math.floor(size * 2 ** 24);
  let power = Math.floor(Math.log2(size));
  // The logarithm may be off by one next to a power of two.
  if (2 ** power > size) power--;
  else if (2 ** (power + 1) <= size) power++;
  return ((power + 14) << 10) + Math.floor(size / 2 ** (power - 10));
}

/**
 * A float32 as 16 bits of a half: the one below it, towards 0, or the next, where the share of the way to it is above
 * `random` / 2^32. Of that share 13 bits are looked at, which is all that float32 has, or 21 below 2^-14, down to 2^-45.
 * Finite numbers beyond 65504 become 65504, as in FBGEMM; infinity stays, and so does NaN.
 */
export function stochasticHalf(value: number, random: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === Infinity) return sign | 0x7c00;
  if (size >= LARGEST_HALF) return sign | 0x7bff;
  const below = halfBelow(size);
  const bits = size < 2 ** -14 ? BITS_OF_SMALL : BITS;
  const share = Math.floor(((size - halfValue(below)) / (halfValue(below + 1) - halfValue(below))) * 2 ** bits);
  const chance = (random >>> 0) >>> (32 - bits);
  return sign | (below + (share + chance >= 2 ** bits ? 1 : 0));
}
