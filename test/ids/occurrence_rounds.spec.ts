import { occurrenceRounds } from '../../src/ids/occurrence_rounds.js';

describe('occurrenceRounds', () => {
  const bags = {
    values: Int32Array.of(3, 1, 3),
    rowSplits: Int32Array.of(0, 2, 2, 3),
    weights: Float32Array.of(1, 3, 2),
    gradient: Float32Array.of(4, 8, 100, 100, 1, 2),
  };
  /** Bags of one id each; the gradient of the k-th is k + 1. */
  const single = (...ids: number[]): typeof bags => ({
    values: Int32Array.from(ids),
    rowSplits: Int32Array.from({ length: ids.length + 1 }, (_, i) => i),
    weights: new Float32Array(ids.length).fill(1),
    gradient: Float32Array.from(ids, (_, i) => i + 1),
  });

  it('has the share of each occurrence in the gradient of its bag', () => {
    expect(occurrenceRounds([bags], 'sum', 2)).toEqual([
      { ids: Int32Array.of(3, 1), factors: Float64Array.of(1, 3), gradients: Float32Array.of(4, 8, 4, 8) },
      { ids: Int32Array.of(3), factors: Float64Array.of(2), gradients: Float32Array.of(1, 2) },
    ]);
    const factors = (weights: Float32Array | null, combiner: 'mean' | 'sqrtn'): number[] =>
      occurrenceRounds([{ ...bags, weights }], combiner, 2).flatMap((round) => [...round.factors]);
    expect(factors(bags.weights, 'mean')).toEqual([0.25, 0.75, 1]);
    expect(factors(Float32Array.of(3, 4, 2), 'sqrtn')).toEqual([0.6, 0.8, 1]);
    expect(factors(null, 'mean')).toEqual([0.5, 0.5, 1]);
  });

  it('has no share where the weights of a bag cancel out, and goes on with the next feature', () => {
    const cancelled = { ...bags, weights: Float32Array.of(1, -1, 2) };
    const rounds = occurrenceRounds([cancelled, bags], 'mean', 2);
    expect(rounds.map(({ ids }) => [...ids])).toEqual([[3, 1], [3, 1], [3], [3]]);
    expect(rounds.map(({ factors }) => [...factors])).toEqual([[0, 0], [1, 0.75], [0.25], [1]]);
    expect(rounds[1]!.gradients).toEqual(Float32Array.of(1, 2, 4, 8));
  });

  it('repeats no id within a round, and keeps the order of occurrences', () => {
    const rounds = occurrenceRounds([single(7, 3, 7, 7, 3, 5)], 'sum', 1);
    expect(rounds.map(({ ids }) => [...ids])).toEqual([[7, 3, 5], [7, 3], [7]]);
    expect(rounds.map(({ gradients }) => [...gradients])).toEqual([[1, 2, 6], [3, 5], [4]]);
  });

  it('takes bags in the order that is given, and those alone', () => {
    const rounds = occurrenceRounds([{ ...single(7, 3, 7, 7, 3, 5), order: [3, 5, 0] }], 'sum', 1);
    expect(rounds.map(({ ids }) => [...ids])).toEqual([[7, 5], [7]]);
    expect(rounds.map(({ gradients }) => [...gradients])).toEqual([[4, 6], [1]]);
  });

  it('has no rounds without ids', () => {
    expect(occurrenceRounds([single()], 'sum', 2)).toEqual([]);
  });
});
