import { SharedIds, unitedGradient, unitedIds } from '../../src/backends/united_uses.js';

const bags = (values: number[], splits: number[], weights: number[] | null = null) => ({
  values: Int32Array.from(values),
  rowSplits: Int32Array.from(splits),
  weights: weights === null ? null : Float32Array.from(weights),
});

describe('unitedIds', () => {
  it('leave those of a single use as they are', () => {
    const only = bags([3, 1], [0, 1, 2], [0.5, 2]);
    const { values, rowSplits, weights, useStarts } = unitedIds([only]);
    expect([values, rowSplits, weights, useStarts]).toEqual([only.values, only.rowSplits, only.weights, null]);
    expect(values).toBe(only.values);
  });

  it('lie side by side, with weights of 1 where only others have some', () => {
    const found = unitedIds([bags([3, 1], [0, 1, 2]), bags([], [0, 0]), bags([7, 7, 8], [0, 3], [1, 2, 3])]);
    expect(found.values).toEqual(Int32Array.of(3, 1, 7, 7, 8));
    expect(found.rowSplits).toEqual(Int32Array.of(0, 1, 2, 2, 5));
    expect(found.weights).toEqual(Float32Array.of(1, 1, 1, 2, 3));
    expect(found.useStarts).toEqual(Int32Array.of(2, 3));
  });
});

describe('unitedGradient', () => {
  it('joins the gradients of several uses, and leaves a single one as it is', () => {
    const [a, b] = [Float32Array.of(1, 2), Float32Array.of(3)];
    expect(unitedGradient([a])).toBe(a);
    expect(unitedGradient([a, b])).toEqual(Float32Array.of(1, 2, 3));
  });
});

describe('SharedIds', () => {
  it('unites the same ids once', () => {
    const shared = new SharedIds();
    const [a, b, c] = [{}, {}, {}];
    const of = (...keys: unknown[]) => shared.of(keys, () => unitedIds([bags([1], [0, 1]), bags([2], [0, 1])]));
    const first = of(a, b, null);
    expect(of(a, b, null)).toBe(first);
    for (const keys of [
      [a, b],
      [a, b, c],
      [b, a, null],
      [a, b, null, a],
    ])
      expect(of(...keys)).not.toBe(first);
  });
});
