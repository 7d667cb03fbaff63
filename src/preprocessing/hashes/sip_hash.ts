/** SipHash-2-4 of bytes under a key: the hash that TensorFlow's StringToHashBucketStrong and a salted Hashing use. */
const wrap = (x: bigint): bigint => BigInt.asUintN(64, x);
const rotate = (x: bigint, by: bigint): bigint => wrap((x << by) | (x >> (64n - by)));

/** Returns the hash as an unsigned 64-bit BigInt; `key` holds two words, of which the low 64 bits count. */
export function sipHash64(bytes: Uint8Array, key: readonly [bigint, bigint]): bigint {
  const [k0, k1] = [wrap(key[0]), wrap(key[1])];
  let v0 = k0 ^ 0x736f6d6570736575n;
  let v1 = k1 ^ 0x646f72616e646f6dn;
  let v2 = k0 ^ 0x6c7967656e657261n;
  let v3 = k1 ^ 0x7465646279746573n;
  const rounds = (count: number): void => {
    for (let i = 0; i < count; i++) {
      v0 = wrap(v0 + v1);
      v2 = wrap(v2 + v3);
      v1 = rotate(v1, 13n) ^ v0;
      v3 = rotate(v3, 16n) ^ v2;
      v0 = rotate(v0, 32n);
      v2 = wrap(v2 + v1);
      v0 = wrap(v0 + v3);
      v1 = rotate(v1, 17n) ^ v2;
      v3 = rotate(v3, 21n) ^ v0;
      v2 = rotate(v2, 32n);
    }
  };
  const compress = (word: bigint): void => {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const full = bytes.length - (bytes.length % 8);
  for (let at = 0; at < full; at += 8) compress(view.getBigUint64(at, true));
  // The last word holds what is left over and, in its highest byte, the length.
  let last = BigInt(bytes.length & 0xff) << 56n;
  for (let at = full; at < bytes.length; at++) last |= BigInt(bytes[at]!) << BigInt(8 * (at - full));
  compress(last);
  v2 ^= 0xffn;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}
