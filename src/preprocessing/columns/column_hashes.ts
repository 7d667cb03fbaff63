/** Buckets of the values of columns, by the hashes of TensorFlow. */
import { platform, type ColumnKernels } from '../../base/platform.js';
import { bucketOfBytes, type Salt } from '../hashes/hash_bucket.js';
import type { JoinedTexts, Utf8Column } from './utf8_column.js';

/** Where values go: `of` buckets, by FarmHash64 or, with a salt, SipHash64. */
export interface Buckets {
  readonly of: number;
  readonly salt: Exclude<Salt, number> | null;
}

export function nativeTextBuckets(
  column: Utf8Column | JoinedTexts,
  { of, salt }: Buckets,
  kernels: ColumnKernels,
): Int32Array {
  const buckets = new Int32Array(column.offsets.length - 1);
  kernels.hashTexts(column.bytes, column.offsets, 'gap' in column ? column.gap : 0, of, keyOf(salt), buckets);
  return buckets;
}

/** The same in TypeScript, which the native one is compared with. */
export function plainTextBuckets({ bytes, offsets }: Utf8Column, { of, salt }: Buckets): Int32Array {
  return Int32Array.from({ length: offsets.length - 1 }, (_, i) => {
    return bucketOfBytes(bytes.subarray(offsets[i]!, offsets[i + 1]!), of, salt);
  });
}

export function textBuckets(column: Utf8Column, buckets: Buckets): Int32Array {
  const kernels = platform().columns;
  return kernels === undefined ? plainTextBuckets(column, buckets) : nativeTextBuckets(column, buckets, kernels);
}

const encoder = new TextEncoder();

export function plainNumberBuckets(numbers: BigInt64Array, { of, salt }: Buckets): Int32Array {
  return Int32Array.from(Array.from(numbers, (number) => bucketOfBytes(encoder.encode(String(number)), of, salt)));
}

export function numberBuckets(numbers: BigInt64Array, buckets: Buckets): Int32Array {
  const kernels = platform().columns;
  if (kernels === undefined) return plainNumberBuckets(numbers, buckets);
  const result = new Int32Array(numbers.length);
  kernels.hashNumbers(numbers, buckets.of, keyOf(buckets.salt), result);
  return result;
}

function keyOf(salt: Buckets['salt']): BigInt64Array | null {
  return salt === null ? null : BigInt64Array.from(salt, BigInt);
}
