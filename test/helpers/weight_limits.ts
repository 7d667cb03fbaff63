/** Limits of weights: either may be given without the other. */
import { NEUTRAL_HYPER, packHyper } from '../../src/rules/hyper.js';
import { floatTable, type BagOptions, type KernelSet } from '../../src/backends/kernel_set.js';
import { slotShapes, type UpdateName } from '../../src/rules/rules.js';
import { stepOne } from './kernel_calls.js';

export function itLimitsWeights(kernels: () => Pick<KernelSet, 'step'>): void {
  it('limits weights from above, from below, and from both sides', () => {
    const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const bags = { values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null };
    const limited = (optimizer: UpdateName, limits: object): number[] => {
      // A row of five columns, which no vector holds as a whole; the second row is not touched.
      const table = floatTable(new Float32Array(10).fill(5), 2, 5);
      const slots = slotShapes(optimizer, [2, 5]).map(([rows, dim = 1]) => new Float32Array(rows! * dim).fill(1));
      const gradient = Float32Array.of(9, -9, 9, -9, 9);
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1, ...limits });
      stepOne(kernels(), optimizer, table, slots, gradient, bags, options, hyper);
      expect([...table.data.subarray(5)]).toEqual([5, 5, 5, 5, 5]);
      return [...table.data.subarray(0, 5)];
    };
    const [low, high] = [{ clipWeightMin: 4.5 }, { clipWeightMax: 5.25 }];
    expect(limited('sgd', {})).toEqual([-4, 14, -4, 14, -4]);
    expect(limited('sgd', low)).toEqual([4.5, 14, 4.5, 14, 4.5]);
    expect(limited('sgd', high)).toEqual([-4, 5.25, -4, 5.25, -4]);
    for (const optimizer of ['sgd', 'adagrad', 'rowWiseAdagrad'] as const) {
      const both = limited(optimizer, { ...low, ...high });
      expect(both).withContext(optimizer).toEqual([4.5, 5.25, 4.5, 5.25, 4.5]);
    }
  });
}
