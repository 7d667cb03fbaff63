/** Texts to buckets, by the hashes of TensorFlow. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { fingerprint64 } from './farm_hash.js';
import { sipHash64 } from './sip_hash.js';

/** One or two whole numbers that key a hash; one counts twice. */
export type Salt = number | readonly [number, number];

const encoder = new TextEncoder();

/** The hash of the UTF-8 of a text, mod `buckets`: FarmHash64, with a salt SipHash64. */
export function bucketOf(text: string, buckets: number, salt: readonly [number, number] | null): number {
  return bucketOfBytes(encoder.encode(text), buckets, salt);
}

export function bucketOfBytes(bytes: Uint8Array, buckets: number, salt: readonly [number, number] | null): number {
  const hash = salt === null ? fingerprint64(bytes) : sipHash64(bytes, [BigInt(salt[0]), BigInt(salt[1])]);
  return Number(hash % BigInt(buckets));
}

export function checkSalt(salt: unknown): [number, number] | null {
  if (salt === undefined || salt === null) return null;
  const expected = 'a whole number or two of them';
  const pair: readonly unknown[] = Array.isArray(salt) ? salt : [salt, salt];
  for (const word of pair) {
    if (typeof word !== 'number') throw new ArgumentTypeError('salt', expected, salt);
    if (!Number.isSafeInteger(word)) throw new ValueError('salt', expected, salt);
  }
  if (pair.length !== 2) throw new ValueError('salt', expected, described(`${pair.length} of them`));
  return pair as [number, number];
}
