/** The order of bytes of this machine, and of files. */

export const HOST_IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Turns the bytes of each value round, `size` bytes each. */
export function reverseEach(bytes: Uint8Array, size: number): void {
  for (let first = 0; first < bytes.length; first += size) {
    for (let a = first, b = first + size - 1; a < b; a++, b--) [bytes[a], bytes[b]] = [bytes[b]!, bytes[a]!];
  }
}

/** Values as little-endian files have them; on most machines their own bytes, which must not change until written. */
export function littleEndianBytes(values: Float32Array | Int32Array | Uint8Array): Uint8Array {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (HOST_IS_LITTLE_ENDIAN || values.BYTES_PER_ELEMENT === 1) return bytes;
  const turned = bytes.slice();
  reverseEach(turned, values.BYTES_PER_ELEMENT);
  return turned;
}
