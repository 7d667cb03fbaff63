/** Values of a table as they are looked up where the table is quantized. */

/** `numBuckets` evenly spaced values from `lower` to `upper`. */
export interface Quantization {
  readonly numBuckets: number;
  readonly lower: number;
  readonly upper: number;
}

/** Limits values to [lower, upper] and moves each to the nearest of the buckets, in place. */
export function quantize(values: Float32Array, { numBuckets, lower, upper }: Quantization): void {
  const step = (upper - lower) / (numBuckets - 1);
  for (let i = 0; i < values.length; i++) {
    const limited = Math.min(Math.max(values[i]!, lower), upper);
    values[i] = Math.floor((limited - lower) / step + 0.5) * step + lower;
  }
}
