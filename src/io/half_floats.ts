/** Numbers of 16 bits, as files of NumPy and PyTorch hold them. */

/** The number of a half: 1 bit of sign, 5 of exponent (bias 15) and 10 of fraction. Every NaN is the same. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const WORD = new DataView(new ArrayBuffer(4));

/** The number of a bfloat16: the upper half of a float32. */
export function fromBfloat(bits: number): number {
  WORD.setUint32(0, bits << 16);
  return WORD.getFloat32(0);
}
