import { Mentions, namesOf } from './mentions.js';

describe('names that a source is known by', () => {
  it('are what it exports and its own, short ones and single words aside', () => {
    const text =
      'export class FeatureCross {}\nexport async function crossAll() {}\nexport const few = 1;\nconst hidden = 1;';
    expect(namesOf('src/layers/feature_cross.ts', text)).toEqual(['featurecross', 'crossall']);
    expect(namesOf('src/layers/settings.ts', "export * from './a.js';")).toEqual([]);
  });

  it('are functions of kernels in C', () => {
    expect(namesOf('custom-ops/kernels/columns/hashes.c', 'void te_hash_buckets(int n) {}')).toEqual([
      'hashes',
      'hashbuckets',
    ]);
  });

  it('are found however they are written', () => {
    const texts = new Map([
      ['a', 'layers.featureCross()'],
      ['b', "import './feature_cross.js'"],
      ['c', 'crosses'],
    ]);
    const mentions = new Mentions((file) => texts.get(file) ?? '');
    expect(['a', 'b', 'c', 'd'].filter((file) => mentions.has(file, ['featurecross']))).toEqual(['a', 'b']);
    expect(mentions.has('a', [])).toBeFalse();
  });
});
