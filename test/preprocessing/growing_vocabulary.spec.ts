import { GrowingVocabulary } from '../../src/preprocessing/growing_vocabulary.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';

describe('GrowingVocabulary', () => {
  it('gives indices in order of first appearance, and 0 when it is full', () => {
    const vocabulary = new GrowingVocabulary(3);
    expect([7, 7, 9, 7, 5, 9, 8, 1].map((key) => vocabulary.take(key))).toEqual([1, 1, 2, 1, 3, 2, 0, 0]);
    expect(vocabulary.keys).toEqual([7, 9, 5]);
    expect(vocabulary.counts).toEqual([2, 3, 2, 1]);
    expect([5, 8].map((key) => vocabulary.find(key))).toEqual([3, 0]);
    expect(vocabulary.counts).toEqual([2, 3, 2, 1]);
  });

  it('never gives -1 an index', () => {
    const vocabulary = new GrowingVocabulary(3);
    expect([-1, -2, -3, -1].map((key) => vocabulary.take(key))).toEqual([0, 1, 2, 0]);
    expect(vocabulary.keys).toEqual([-2, -3]);
  });

  it('keeps every whole number below 2^53 as two words', () => {
    const edges = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER];
    const keys = [...edges, ...edges.filter((key) => key > 1).map((key) => -key)];
    const vocabulary = new GrowingVocabulary(keys.length);
    for (const key of keys) vocabulary.take(key);
    const words = vocabulary.toWords();
    // The same bytes as int64, which is what other programs read.
    expect(Array.from(new BigInt64Array(words.keys.buffer, 8), Number)).toEqual(keys);
    const again = GrowingVocabulary.fromWords(words);
    expect(again.keys).toEqual(keys);
    expect(again.toWords()).toEqual(words);
  });

  it('comes back equal, partly filled, with its counts', () => {
    const random = new Random(3);
    for (const size of [1, 2, 40]) {
      const vocabulary = new GrowingVocabulary(size);
      for (let i = 0; i < 30; i++) vocabulary.take(random.whole(-20, 30));
      const again = GrowingVocabulary.fromWords(vocabulary.toWords());
      expect(again.keys).toEqual(vocabulary.keys);
      expect(again.counts).toEqual(vocabulary.counts);
      for (let i = 0; i < 30; i++) {
        const key = random.whole(-40, 50);
        expect(again.take(key)).toBe(vocabulary.take(key));
      }
    }
  });

  it('counts stop at the largest int32', () => {
    const words = { keys: Int32Array.of(0, 0, 7, 0), counts: Int32Array.of(0, 2 ** 31 - 2) };
    const vocabulary = GrowingVocabulary.fromWords(words);
    for (let i = 0; i < 3; i++) vocabulary.take(7);
    expect(vocabulary.toWords().counts[1]).toBe(2 ** 31 - 1);
  });

  it('refuses words that are no vocabulary', () => {
    const read = (keys: number[], counts: number[]) => () =>
      GrowingVocabulary.fromWords({ keys: Int32Array.from(keys), counts: Int32Array.from(counts) });
    expect(read([0, 0, 7, 0, 0, 0], [0, 1, 0])().keys).toEqual([7]);
    expectError(read([0, 0, 7, 0, 7, 0], [0, 1, 1]), 'ValueError', 'weights', '7 in row 2');
    expectError(read([0, 0, -1, -1, 7, 0], [0, 1, 1]), 'ValueError', 'weights', '-1 in row 1');
    expectError(read([0, 0, 0, 2 ** 30, 7, 0], [0, 1, 1]), 'ValueError', 'weights', 'row 1');
    expectError(read([0, 0, 7, 0, 8, 0], [0, 0, 1]), 'ValueError', 'weights', '1 in row 2');
    expectError(read([0, 0, 7, 0, 8, 0], [-5, 1, 1]), 'ValueError', 'weights', '-5 in row 0');
    expectError(read([0, 0, 7, 0, 8, 0], [0, 1, -1]), 'ValueError', 'weights', '-1 in row 2');
  });
});
