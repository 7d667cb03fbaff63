/** Fingerprints of many texts: FarmHash64 of their UTF-8, as tf.fingerprint gives it. */
import { platform } from '../../base/platform.js';
import type { Utf8Column } from '../columns/utf8_column.js';
import { fingerprint64 } from './farm_hash.js';

/** The fingerprint of each text as two words, the low one first: [count, 2]. */
export function fingerprints({ bytes, offsets }: Utf8Column): Int32Array {
  const words = new Int32Array(2 * (offsets.length - 1));
  const columns = platform().columns;
  if (columns !== undefined) {
    columns.fingerprintTexts(bytes, offsets, words);
    return words;
  }
  for (let i = 0; i < offsets.length - 1; i++) {
    const hash = fingerprint64(bytes.subarray(offsets[i]!, offsets[i + 1]!));
    words[2 * i] = Number(BigInt.asIntN(32, hash));
    words[2 * i + 1] = Number(BigInt.asIntN(32, hash >> 32n));
  }
  return words;
}
