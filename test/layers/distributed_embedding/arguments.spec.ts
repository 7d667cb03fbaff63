import { checkSeed, checkWeighted } from '../../../src/layers/distributed_embedding/arguments.js';
import { expectError } from '../../helpers/errors.js';

describe('arguments of a DistributedEmbedding', () => {
  it('take a whole number as seed', () => {
    expect([undefined, null, 0, -7].map(checkSeed)).toEqual([null, null, 0, -7]);
    for (const wrong of [0.5, NaN, 2 ** 53]) expectError(() => checkSeed(wrong), 'ValueError', 'seed', String(wrong));
    expectError(() => checkSeed('7'), 'TypeError', 'seed', '7');
  });

  it('take numbers of features as those with weights', () => {
    expect([undefined, null].map((none) => checkWeighted(none, 2))).toEqual([null, null]);
    expect(checkWeighted([], 2)).toEqual([]);
    expect(checkWeighted([1, 0], 2)).toEqual([1, 0]);
    for (const wrong of [[2], [-1], [0.5], ['0'], [0, 2]]) {
      expectError(() => checkWeighted(wrong, 2), 'ValueError', 'weightedFeatures');
    }
    expect(() => checkWeighted([2], 2)).toThrowError(/0 to 1/);
    expectError(() => checkWeighted(1, 2), 'TypeError', 'weightedFeatures', '1');
  });
});
