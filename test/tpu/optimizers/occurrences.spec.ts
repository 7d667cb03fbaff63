import { occurrencesOf, rounds } from '../../../src/tpu/optimizers/occurrences.js';

describe('occurrencesOf', () => {
  const bags = {
    values: Int32Array.of(3, 1, 3),
    rowSplits: Int32Array.of(0, 2, 2, 3),
    weights: Float32Array.of(1, 3, 2),
    gradient: Float32Array.of(4, 8, 100, 100, 1, 2),
  };

  it('gives each occurrence its share of the gradient of its bag', () => {
    expect(occurrencesOf([bags], 'sum', 2)).toEqual({
      ids: Int32Array.of(3, 1, 3),
      gradients: Float32Array.of(4, 8, 12, 24, 2, 4),
      dim: 2,
    });
    expect(occurrencesOf([bags], 'mean', 2).gradients).toEqual(Float32Array.of(1, 2, 3, 6, 1, 2));
    const roots = occurrencesOf([{ ...bags, weights: Float32Array.of(3, 4, 2) }], 'sqrtn', 2).gradients;
    expect([...roots].map((value) => Math.round(value * 1e6) / 1e6)).toEqual([2.4, 4.8, 3.2, 6.4, 1, 2]);
    const plain = occurrencesOf([{ ...bags, weights: null }], 'mean', 2).gradients;
    expect(plain).toEqual(Float32Array.of(2, 4, 2, 4, 1, 2));
  });

  it('gives zeros where the weights of a bag cancel out, and goes on with the next feature', () => {
    const cancelled = { ...bags, weights: Float32Array.of(1, -1, 2) };
    const { ids, gradients } = occurrencesOf([cancelled, bags], 'mean', 2);
    expect(ids).toEqual(Int32Array.of(3, 1, 3, 3, 1, 3));
    expect([...gradients.subarray(0, 4)].map(Math.abs)).toEqual([0, 0, 0, 0]);
    expect(gradients.subarray(6)).toEqual(Float32Array.of(1, 2, 3, 6, 1, 2));
  });
});

describe('rounds', () => {
  it('hold each id once, occurrences in the order of the batch', () => {
    const split = rounds({ ids: Int32Array.of(3, 1, 3, 3), gradients: Float32Array.of(1, 2, 3, 4), dim: 1 });
    expect(split).toEqual([
      { ids: Int32Array.of(3, 1), gradients: Float32Array.of(1, 2), dim: 1 },
      { ids: Int32Array.of(3), gradients: Float32Array.of(3), dim: 1 },
      { ids: Int32Array.of(3), gradients: Float32Array.of(4), dim: 1 },
    ]);
    expect(rounds({ ids: new Int32Array(0), gradients: new Float32Array(0), dim: 2 })).toEqual([]);
  });
});
