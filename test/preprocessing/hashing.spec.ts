/** Settings of Hashing, and what the goldens do not hold. */
import { Hashing } from '../../src/preprocessing/index.js';

function named(name: string, argument: string): (error: Error & { argument?: string }) => boolean {
  return (error) => error.name === name && error.argument === argument;
}

describe('Hashing', () => {
  it('hashes a number as its text, and keeps text apart from the mask number', () => {
    const hashing = new Hashing({ numBins: 1000 });
    expect(hashing.apply([7, -12])).toEqual(hashing.apply(['7', '-12']));
    const masked = new Hashing({ numBins: 1000, maskValue: 7 });
    expect(masked.apply(7)).toBe(0);
    // The others share the rows above 0.
    expect(masked.apply('7')).toBe(1 + new Hashing({ numBins: 999 }).apply('7'));
  });

  it('stays in range and uses every bin', () => {
    const words = Array.from({ length: 500 }, (_, i) => `word ${i}`);
    expect(new Set(new Hashing({ numBins: 7 }).apply(words))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
    const masked = new Set(new Hashing({ numBins: 7, maskValue: '' }).apply(words));
    expect(masked).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  });

  it('gives other ids for another salt', () => {
    const words = Array.from({ length: 100 }, (_, i) => `word ${i}`);
    const [one, two, pair] = [1, 2, [1, 2] as [number, number]].map((salt) => new Hashing({ numBins: 1e6, salt }));
    expect(one!.apply(words)).not.toEqual(two!.apply(words));
    expect(one!.apply(words)).not.toEqual(pair!.apply(words));
  });

  it('gives everything the only row where there is one, the masked value too', () => {
    for (const salt of [null, 5]) {
      const hashing = new Hashing({ numBins: 1, maskValue: 'none', salt });
      expect(hashing.apply(['a', 'none', 'b', ''])).toEqual([0, 0, 0, 0]);
    }
    const two = new Hashing({ numBins: 2, maskValue: 'none' });
    expect(two.apply(['a', 'none', 'b', ''])).toEqual([1, 0, 1, 1]);
  });

  it('survives JSON with every setting', () => {
    const hashing = new Hashing({ name: 'Words_2', numBins: 50, maskValue: 'none', salt: [3, -4] });
    const config = JSON.parse(JSON.stringify(hashing.getConfig())) as object;
    expect(config).toEqual({ name: 'Words_2', numBins: 50, maskValue: 'none', salt: [3, -4], outputMode: 'int' });
    const again = Hashing.fromConfig(config);
    expect(again.getConfig() as object).toEqual(config);
    const words = ['none', 'a', 'b', 'word 12', ''];
    expect(again.apply(words)).toEqual(hashing.apply(words));
    // One number counts twice.
    expect(new Hashing({ numBins: 50, salt: 3 }).getConfig().salt).toEqual([3, 3]);
  });

  it('learns nothing', () => {
    const hashing = new Hashing({ numBins: 10 });
    expect(hashing.adapt(['a'])).toBe(hashing);
  });

  it('says what is wrong', () => {
    const make = (args: unknown) => () => new Hashing(args as { numBins: number });
    expect(make(undefined)).toThrowMatching(named('TypeError', 'args'));
    expect(make({})).toThrowMatching(named('TypeError', 'numBins'));
    expect(make({ numBins: 0 })).toThrowMatching(named('ValueError', 'numBins'));
    expect(make({ numBins: 2 ** 31 })).toThrowMatching(named('ValueError', 'numBins'));
    expect(make({ numBins: 3, salt: 'x' })).toThrowMatching(named('TypeError', 'salt'));
    expect(make({ numBins: 3, salt: [1, 2, 3] })).toThrowMatching(named('ValueError', 'salt'));
    expect(make({ numBins: 3, salt: 1.5 })).toThrowMatching(named('ValueError', 'salt'));
    expect(make({ numBins: 3, maskValue: {} })).toThrowMatching(named('TypeError', 'maskValue'));
    expect(make({ numBins: 3, maskValue: 0.5 })).toThrowMatching(named('ValueError', 'maskValue'));
    expect(make({ numBins: 3, outputMode: 'tfIdf' })).toThrowMatching(named('ValueError', 'outputMode'));
  });
});
