import { bagDivisor } from '../../src/ids/bag_divisor.js';

describe('bagDivisor', () => {
  const weights = Float32Array.of(9, 3, -4, 9);

  it('is 1 for sum, the sum of weights for mean, the root of their squares for sqrtn', () => {
    expect(bagDivisor(weights, 1, 3, 'sum')).toBe(1);
    expect(bagDivisor(weights, 1, 3, 'mean')).toBe(-1);
    expect(bagDivisor(weights, 1, 3, 'sqrtn')).toBe(5);
  });

  it('counts ids without weights', () => {
    expect(bagDivisor(null, 2, 6, 'mean')).toBe(4);
    expect(bagDivisor(null, 2, 6, 'sqrtn')).toBe(2);
  });

  it('is 0 for an empty bag, but for sum', () => {
    expect(bagDivisor(weights, 2, 2, 'mean')).toBe(0);
    expect(bagDivisor(null, 2, 2, 'sqrtn')).toBe(0);
    expect(bagDivisor(null, 2, 2, 'sum')).toBe(1);
  });
});
