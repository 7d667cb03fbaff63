/** Settings and states of Discretization. */
import { Discretization } from '../../src/preprocessing/index.js';

function named(name: string, argument: string): (error: Error & { argument?: string }) => boolean {
  return (error) => error.name === name && error.argument === argument;
}

describe('Discretization', () => {
  it('puts a value on a boundary into the bin above, infinities into the outer bins', () => {
    const bins = new Discretization({ binBoundaries: [-1, 0, 0, 2.5] });
    expect(bins.apply([-Infinity, -1, -0.5, 0, 2.4, 2.5, Infinity])).toEqual([0, 1, 1, 3, 3, 4, 4]);
  });

  it('compares as float32, whatever values and boundaries come in', () => {
    const bins = new Discretization({ binBoundaries: [0.1, 0.7] });
    const values = [0.1, 0.09999999, 0.7, 0.6999999, 0.1 + 1e-10, 0.7 - 1e-9];
    const wanted = Array.from(Float32Array.from(values), (value) => [0.1, 0.7].filter((each) => Math.fround(each) <= value).length); // prettier-ignore
    expect(bins.apply(values)).toEqual(wanted);
    expect(Array.from(bins.apply(Float64Array.from(values)))).toEqual(wanted);
    expect(Array.from(bins.apply(Float32Array.from(values)))).toEqual(wanted);
    expect(wanted).toEqual([1, 0, 2, 1, 1, 2]);
  });

  it('keeps infinite boundaries through JSON', () => {
    for (const given of [[-Infinity, 0, Infinity], [1e300], [-1e39, 1e39]]) {
      const bins = new Discretization({ binBoundaries: given });
      const config = JSON.parse(JSON.stringify(bins.getConfig())) as { binBoundaries: number[] };
      expect(config.binBoundaries.every(Number.isFinite)).toBeTrue();
      const again = Discretization.fromConfig(config);
      expect(again.binBoundaries).toEqual(bins.binBoundaries);
      const values = [-Infinity, -3e38, 0, 3e38, Infinity];
      expect(again.apply(values)).toEqual(bins.apply(values));
    }
  });

  it('has one bin without boundaries', () => {
    expect(new Discretization({ binBoundaries: [] }).apply([-3, 8])).toEqual([0, 0]);
    expect(new Discretization({ numBins: 1 }).adapt([1, 2, 3]).apply([0, 9])).toEqual([0, 0]);
  });

  it('fills bins about equally', () => {
    const values = Array.from({ length: 10_000 }, (_, i) => ((i * 7919) % 10_007) ** 2);
    const counts = new Array<number>(8).fill(0);
    for (const bin of new Discretization({ numBins: 8 }).adapt(values).apply(values)) counts[bin]!++;
    for (const count of counts) expect(Math.abs(count - 1250)).toBeLessThanOrEqual(200); // epsilon on either side
  });

  it('keeps boundaries through JSON and can adapt again', () => {
    const bins = new Discretization({ name: 'Age_1', numBins: 3, epsilon: 0.02 }).adapt([1, 2, 3, 4, 5, 6]);
    const config = JSON.parse(JSON.stringify(bins.getConfig())) as object;
    expect(config).toEqual({ name: 'Age_1', binBoundaries: [2, 4], numBins: 3, epsilon: 0.02, outputMode: 'int' });
    const again = Discretization.fromConfig(config);
    expect(again.apply([2, 4, 9])).toEqual([1, 2, 2]);
    expect(again.adapt([10, 20, 30]).binBoundaries).toEqual([10, 20]);
  });

  it('says what is wrong', () => {
    const make = (args: unknown) => () => new Discretization(args as object);
    expect(make({})).toThrowMatching(named('ValueError', 'numBins'));
    expect(make({ numBins: 2, binBoundaries: [1] })).toThrowMatching(named('ValueError', 'numBins'));
    expect(make({ numBins: 0 })).toThrowMatching(named('ValueError', 'numBins'));
    expect(make({ numBins: '4' })).toThrowMatching(named('TypeError', 'numBins'));
    expect(make({ binBoundaries: 4 })).toThrowMatching(named('TypeError', 'binBoundaries'));
    expect(make({ binBoundaries: [1, 0] })).toThrowMatching(named('ValueError', 'binBoundaries'));
    expect(make({ binBoundaries: [NaN] })).toThrowMatching(named('ValueError', 'binBoundaries'));
    expect(make({ numBins: 4, epsilon: 1 })).toThrowMatching(named('ValueError', 'epsilon'));
    expect(make({ numBins: 4, bins: 2 })).toThrowMatching(named('ValueError', 'bins'));
    const bins = new Discretization({ numBins: 4 });
    expect(() => bins.apply([1])).toThrowMatching(named('RuntimeError', 'apply'));
    expect(() => bins.adapt([])).toThrowMatching(named('ValueError', 'data'));
    expect(() => bins.adapt([1, Infinity])).toThrowMatching(named('ValueError', 'data'));
    expect(() => bins.adapt([1, NaN])).toThrowMatching(named('ValueError', 'data'));
    const fixed = new Discretization({ binBoundaries: [1] });
    expect(() => fixed.adapt([1])).toThrowMatching(named('RuntimeError', 'adapt'));
  });
});
