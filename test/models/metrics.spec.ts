/** Metrics against values worked out by hand. */
import { aucOf, errorOf, expectedAuc, logLossOf, scoresOf } from '../../models/metrics.js';
import { Random } from '../../models/random.js';

describe('metrics', () => {
  it('counts rows on the wrong side of a half, a half itself being positive', () => {
    expect(errorOf([1, 1, 0, 0], [0.9, 0.4, 0.1, 0.6])).toBe(0.5);
    expect(errorOf([1, 0], [0.5, 0.5])).toBe(0.5);
  });

  it('takes the natural logarithm', () => {
    expect(logLossOf([1, 0], [0.8, 0.4])).toBeCloseTo(-(Math.log(0.8) + Math.log(0.6)) / 2, 12);
    expect(logLossOf([1], [0])).toBeCloseTo(-Math.log(1e-7), 6);
  });

  it('counts ordered pairs', () => {
    // Positives 0.9 and 0.4 against negatives 0.1 and 0.6: three of four pairs are in order.
    expect(aucOf([1, 1, 0, 0], [0.9, 0.4, 0.1, 0.6])).toBe(0.75);
    expect(aucOf([1, 0], [0.2, 0.8])).toBe(0);
  });

  it('counts ties half', () => {
    expect(aucOf([1, 0], [0.5, 0.5])).toBe(0.5);
    // Positives 3, 2 against negatives 2, 1: 1 + 1 + 0.5 + 1 of 4.
    expect(aucOf([1, 1, 0, 0], [3, 2, 2, 1])).toBe(0.875);
  });

  it('has no AUC for one class', () => {
    expect(aucOf([1, 1], [0.1, 0.2])).toBeNaN();
  });

  it('expects the AUC of a ranking from probabilities', () => {
    // Rows with p 0.75 and 0.25: pairs (1 over 2) 0.75 * 0.75, (2 over 1) 0.25 * 0.25.
    expect(expectedAuc([0.75, 0.25], [2, 1])).toBeCloseTo(0.5625 / 0.625, 12);
    expect(expectedAuc([0.75, 0.25], [1, 2])).toBeCloseTo(0.0625 / 0.625, 12);
    expect(expectedAuc([0.75, 0.25], [1, 1])).toBeCloseTo(0.5, 12);
  });

  it('agrees with a count over all pairs', () => {
    const random = new Random(7);
    const truth = Array.from({ length: 60 }, () => random.next());
    const scores = truth.map(() => random.below(20));
    let ordered = 0;
    let all = 0;
    for (let i = 0; i < 60; i++) {
      for (let j = 0; j < 60; j++) {
        if (i === j) continue;
        const weight = truth[i]! * (1 - truth[j]!);
        all += weight;
        if (scores[i]! > scores[j]!) ordered += weight;
        else if (scores[i] === scores[j]) ordered += weight / 2;
      }
    }
    expect(expectedAuc(truth, scores)).toBeCloseTo(ordered / all, 10);
  });

  it('gives all three at once', () => {
    expect(scoresOf([1, 0], [0.8, 0.4])).toEqual({ error: 0, logLoss: logLossOf([1, 0], [0.8, 0.4]), auc: 1 });
  });
});
