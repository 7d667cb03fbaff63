/**
 * FarmHash Fingerprint64 of bytes: the 64-bit hash that TensorFlow's StringToHashBucketFast and Keras's Hashing use.
 * Stable on every machine. BigInt arithmetic: a few microseconds for each value.
 */
const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;

const wrap = (x: bigint): bigint => BigInt.asUintN(64, x);
const rotate = (x: bigint, by: bigint): bigint => wrap((x >> by) | (x << (64n - by)));
const fold = (x: bigint): bigint => x ^ (x >> 47n);

/** Mixes two words into one. */
function mix(u: bigint, v: bigint, multiplier: bigint): bigint {
  const a = fold(wrap((u ^ v) * multiplier));
  return wrap(fold(wrap((v ^ a) * multiplier)) * multiplier);
}

/** Little-endian words of the input. */
class Reader {
  private readonly view: DataView;
  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  byte(at: number): bigint {
    return BigInt(this.view.getUint8(at));
  }
  word32(at: number): bigint {
    return BigInt(this.view.getUint32(at, true));
  }
  word(at: number): bigint {
    return this.view.getBigUint64(at, true);
  }
}

function upTo16(input: Reader, length: number): bigint {
  const multiplier = wrap(K2 + BigInt(length) * 2n);
  if (length >= 8) {
    const a = wrap(input.word(0) + K2);
    const b = input.word(length - 8);
    const c = wrap(rotate(b, 37n) * multiplier + a);
    const d = wrap((rotate(a, 25n) + b) * multiplier);
    return mix(c, d, multiplier);
  }
  if (length >= 4) return mix(BigInt(length) + (input.word32(0) << 3n), input.word32(length - 4), multiplier);
  if (length === 0) return K2;
  const y = input.byte(0) + (input.byte(length >> 1) << 8n);
  const z = BigInt(length) + (input.byte(length - 1) << 2n);
  return wrap(fold(wrap(y * K2) ^ wrap(z * K0)) * K2);
}

/** The step that lengths 17 to 64 share: two words mixed from the first and the last 16 bytes. */
function ends(input: Reader, length: number, first: bigint): { a: bigint; y: bigint; z: bigint; multiplier: bigint } {
  const multiplier = wrap(K2 + BigInt(length) * 2n);
  const a = wrap(input.word(0) * first);
  const b = input.word(8);
  const c = wrap(input.word(length - 8) * multiplier);
  const d = wrap(input.word(length - 16) * K2);
  const y = wrap(rotate(wrap(a + b), 43n) + rotate(c, 30n) + d);
  const z = mix(y, wrap(a + rotate(wrap(b + K2), 18n) + c), multiplier);
  return { a, y, z, multiplier };
}

function upTo64(input: Reader, length: number): bigint {
  const { a, y, z, multiplier } = ends(input, length, K2);
  const e = wrap(input.word(16) * multiplier);
  const f = input.word(24);
  const g = wrap((y + input.word(length - 32)) * multiplier);
  const h = wrap((z + input.word(length - 24)) * multiplier);
  const u = wrap(rotate(wrap(e + f), 43n) + rotate(g, 30n) + h);
  return mix(u, wrap(e + rotate(wrap(f + a), 18n) + g), multiplier);
}

/** Mixes 32 bytes at `at` into a pair of words. */
function absorb(input: Reader, at: number, a: bigint, b: bigint): [bigint, bigint] {
  const start = wrap(a + input.word(at));
  const last = input.word(at + 24);
  const sum = wrap(start + input.word(at + 8) + input.word(at + 16));
  return [wrap(sum + last), wrap(rotate(wrap(b + start + last), 21n) + rotate(sum, 44n) + start)];
}

function beyond64(input: Reader, length: number): bigint {
  let y = wrap(81n * K1 + 113n);
  let z = wrap(fold(wrap(y * K2 + 113n)) * K2);
  let v: [bigint, bigint] = [0n, 0n];
  let w: [bigint, bigint] = [0n, 0n];
  let x = wrap(81n * K2 + input.word(0));
  // One block of 64 bytes; the last one, which may overlap the one before, uses another multiplier and factor.
  const block = (at: number, multiplier: bigint, factor: bigint): void => {
    x = wrap(rotate(wrap(x + y + v[0] + input.word(at + 8)), 37n) * multiplier);
    y = wrap(rotate(wrap(y + v[1] + input.word(at + 48)), 42n) * multiplier);
    x ^= wrap(w[1] * factor);
    y = wrap(y + v[0] * factor + input.word(at + 40));
    z = wrap(rotate(wrap(z + w[0]), 33n) * multiplier);
    v = absorb(input, at, wrap(v[1] * multiplier), wrap(x + w[0]));
    w = absorb(input, at + 32, wrap(z + w[1]), wrap(y + input.word(at + 16)));
    [z, x] = [x, z];
  };
  const full = Math.floor((length - 1) / 64) * 64;
  for (let at = 0; at < full; at += 64) block(at, K1, 1n);
  const multiplier = wrap(K1 + ((z & 0xffn) << 1n));
  w[0] = wrap(w[0] + BigInt((length - 1) & 63));
  v[0] = wrap(v[0] + w[0]);
  w[0] = wrap(w[0] + v[0]);
  block(length - 64, multiplier, 9n);
  const left = wrap(mix(v[0], w[0], multiplier) + wrap(fold(y) * K0) + z);
  return mix(left, wrap(mix(v[1], w[1], multiplier) + x), multiplier);
}

/** Returns the fingerprint as an unsigned 64-bit BigInt. */
export function fingerprint64(bytes: Uint8Array): bigint {
  const input = new Reader(bytes);
  const { length } = bytes;
  if (length <= 16) return upTo16(input, length);
  if (length <= 32) {
    const { z } = ends(input, length, K1);
    return z;
  }
  return length <= 64 ? upTo64(input, length) : beyond64(input, length);
}

/** The seed of what joins two fingerprints. */
const JOINT = 0xc6a4a7935bd1e995n;

/** TensorFlow's FingerprintCat64: two fingerprints as one. */
export function joinedFingerprint(first: bigint, second: bigint): bigint {
  const mixed = first ^ JOINT ^ wrap(fold(wrap(second * JOINT)) * JOINT);
  return fold(wrap(fold(wrap(mixed * JOINT)) * JOINT));
}
