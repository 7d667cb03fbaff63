/** Histograms as TensorBoard shows them. */
import type { HistogramMessage } from './event_messages.js';

/** As many as `tf.summary.histogram` makes. */
const BUCKETS = 30;

/** Buckets of one width from the least number to the greatest; numbers are finite, and there is one. */
export function histogramOf(values: ArrayLike<number>): HistogramMessage {
  let [min, max, sum, sumSquares] = [Infinity, -Infinity, 0, 0];
  const { length: num } = values;
  for (let i = 0; i < num; i++) {
    const value = values[i]!;
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    sumSquares += value * value;
  }
  if (min === max) return { min, max, num, sum, sumSquares, bucketLimit: [max], bucket: [num] };
  const width = (max - min) / BUCKETS;
  const bucket = new Array<number>(BUCKETS).fill(0);
  for (let i = 0; i < num; i++) {
    const at = Math.min(BUCKETS - 1, Math.floor((values[i]! - min) / width));
    bucket[at]!++;
  }
  const bucketLimit = bucket.map((_, i) => (i === BUCKETS - 1 ? max : min + width * (i + 1)));
  return { min, max, num, sum, sumSquares, bucketLimit, bucket };
}
