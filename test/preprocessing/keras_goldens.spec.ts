/** Every class of src/preprocessing against what Keras returns for the same settings and data. */
import { readFileSync } from 'node:fs';
import { Discretization, Hashing, IntegerLookup, StringLookup } from '../../src/preprocessing/index.js';

interface Golden {
  settings: object;
}
interface LookupGolden<T> extends Golden {
  name: string;
  adapt: T[] | T[][];
  vocabulary: T[];
  vocabularySize: number;
  query: T[];
  ids: number[];
}
interface HashingGolden extends Golden {
  strings?: string[];
  ids?: number[];
  integers?: number[];
  integerIds?: number[];
}
interface DiscretizationGolden extends Golden {
  name: string;
  adapt?: number[] | number[][];
  boundaries?: number[];
  query: number[] | number[][];
  ids: number[] | number[][];
}

const goldens = JSON.parse(readFileSync(new URL('../goldens/preprocessing.json', import.meta.url), 'utf8')) as {
  stringLookup: LookupGolden<string>[];
  integerLookup: LookupGolden<number>[];
  hashing: HashingGolden[];
  discretization: DiscretizationGolden[];
};

describe('preprocessing as in Keras', () => {
  it('has goldens for every class', () => {
    const counts = [goldens.stringLookup, goldens.integerLookup, goldens.hashing, goldens.discretization];
    expect(counts.map((cases) => cases.length)).toEqual([21, 10, 9, 17]);
  });

  for (const golden of goldens.stringLookup) {
    it(`StringLookup ${golden.name} ${JSON.stringify(golden.settings)}`, () => {
      const lookup = StringLookup.fromConfig(golden.settings).adapt(golden.adapt);
      expect(lookup.getVocabulary()).toEqual(golden.vocabulary);
      expect(lookup.vocabularySize()).toBe(golden.vocabularySize);
      expect(lookup.apply(golden.query)).toEqual(golden.ids);
      const again = StringLookup.fromConfig(JSON.parse(JSON.stringify(lookup.getConfig())) as object);
      expect(again.apply(golden.query)).toEqual(golden.ids);
    });
  }

  for (const golden of goldens.integerLookup) {
    it(`IntegerLookup ${golden.name} ${JSON.stringify(golden.settings)}`, () => {
      const lookup = IntegerLookup.fromConfig(golden.settings).adapt(golden.adapt);
      expect(lookup.getVocabulary()).toEqual(golden.vocabulary);
      expect(lookup.vocabularySize()).toBe(golden.vocabularySize);
      expect(lookup.apply(golden.query)).toEqual(golden.ids);
      const again = IntegerLookup.fromConfig(JSON.parse(JSON.stringify(lookup.getConfig())) as object);
      expect(again.apply(golden.query)).toEqual(golden.ids);
    });
  }

  for (const golden of goldens.hashing) {
    it(`Hashing ${JSON.stringify(golden.settings)}`, () => {
      const hashing = Hashing.fromConfig(golden.settings);
      const again = Hashing.fromConfig(JSON.parse(JSON.stringify(hashing.getConfig())) as object);
      for (const each of [hashing, again]) {
        if (golden.strings !== undefined) expect(each.apply(golden.strings)).toEqual(golden.ids!);
        if (golden.integers !== undefined) expect(each.apply(golden.integers)).toEqual(golden.integerIds!);
      }
    });
  }

  for (const golden of goldens.discretization) {
    it(`Discretization ${golden.name} ${JSON.stringify(golden.settings)}`, () => {
      const bins = Discretization.fromConfig(golden.settings);
      if (golden.adapt !== undefined) bins.adapt(golden.adapt);
      if (golden.boundaries !== undefined) {
        const { boundaries } = golden;
        expect(bins.binBoundaries!.length).toBe(boundaries.length);
        // Interpolated in another order of float32 operations: the last bits may differ.
        bins.binBoundaries!.forEach((each, i) => expect(Math.abs(each - boundaries[i]!)).toBeLessThan(2e-5));
      }
      expect(bins.apply(golden.query) as unknown).toEqual(golden.ids);
      const again = Discretization.fromConfig(JSON.parse(JSON.stringify(bins.getConfig())) as object);
      expect(again.apply(golden.query) as unknown).toEqual(golden.ids);
    });
  }
});
