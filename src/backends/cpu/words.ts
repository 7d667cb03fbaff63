/** Words of 32 bits as floats of the same bits, and back: packed tables lie in memory that is made for floats. */

/** The same memory as words. */
export function asWords({ buffer, byteOffset, length }: Float32Array): Int32Array {
  return new Int32Array(buffer, byteOffset, length);
}

/** The same memory as floats; it is copied as bytes, so that no word becomes another NaN. */
export function asFloats({ buffer, byteOffset, length }: Int32Array): Float32Array {
  return new Float32Array(buffer, byteOffset, length);
}
