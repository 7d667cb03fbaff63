/** Buckets of histograms. */
import { histogramOf } from '../../src/callbacks/histogram.js';

describe('a histogram', () => {
  it('has thirty buckets of one width, each with the numbers from its lower end on', () => {
    const { min, max, num, sum, sumSquares, bucketLimit, bucket } = histogramOf([0, 0.5, 1, 29, 29.5, 30]);
    expect([min, max, num, sum, sumSquares]).toEqual([0, 30, 6, 90, 0.25 + 1 + 841 + 870.25 + 900]);
    expect(bucketLimit).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    expect(bucket).toEqual([2, 1, ...new Array<number>(27).fill(0), 3]);
  });

  it('of equal numbers is one bucket', () => {
    const found = histogramOf(Float32Array.of(2, 2, 2));
    expect(found).toEqual({ min: 2, max: 2, num: 3, sum: 6, sumSquares: 12, bucketLimit: [2], bucket: [3] });
  });
});
