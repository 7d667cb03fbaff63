/** float16 as 16 bits of a number: IEEE 754 binary16. */

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
