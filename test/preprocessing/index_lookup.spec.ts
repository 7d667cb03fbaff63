/** Settings, vocabularies and states of the lookups. */
import { IntegerLookup, StringLookup } from '../../src/preprocessing/index.js';

function named(name: string, argument: string): (error: Error & { argument?: string }) => boolean {
  return (error) => error.name === name && error.argument === argument;
}

describe('StringLookup and IntegerLookup', () => {
  it('forget what they learned before', () => {
    const lookup = new StringLookup().adapt(['a', 'b', 'b']);
    expect(lookup.adapt(['c']).getVocabulary()).toEqual(['[UNK]', 'c']);
    expect(lookup.apply(['b', 'c'])).toEqual([0, 1]);
  });

  it('know nothing but unknowns after adapting to nothing', () => {
    const lookup = new StringLookup().adapt([]);
    expect(lookup.vocabularySize()).toBe(1);
    expect(lookup.apply(['x'])).toEqual([0]);
  });

  it('take a vocabulary with and without its special tokens', () => {
    const plain = new StringLookup({ vocabulary: ['x', 'y'], maskToken: '' });
    const full = new StringLookup({ vocabulary: ['', '[UNK]', 'x', 'y'], maskToken: '' });
    for (const lookup of [plain, full]) {
      expect(lookup.getVocabulary()).toEqual(['', '[UNK]', 'x', 'y']);
      expect(lookup.getVocabulary(false)).toEqual(['x', 'y']);
      expect(lookup.apply(['', 'y', 'z'])).toEqual([0, 3, 1]);
    }
  });

  it('survive JSON with every setting', () => {
    const lookup = new IntegerLookup({ name: 'Years_2', maxTokens: 5, numOovIndices: 2, maskToken: 0, oovToken: -9 });
    const config = JSON.parse(JSON.stringify(lookup.adapt([1990, 1990, 2000, 0]).getConfig())) as object;
    expect(config).toEqual({
      name: 'Years_2',
      maxTokens: 5,
      numOovIndices: 2,
      maskToken: 0,
      oovToken: -9,
      vocabulary: [1990, 2000],
      idfWeights: null,
      invert: false,
      outputMode: 'int',
      padToMaxTokens: false,
      oovMethod: 'floormod',
      salt: null,
    });
    expect(IntegerLookup.fromConfig(config).getConfig() as object).toEqual(config);
  });

  it('read a config of Keras', () => {
    const config = {
      name: 'k',
      trainable: true,
      dtype: 'int64',
      invert: false,
      max_tokens: null,
      num_oov_indices: 1,
      oov_token: '[UNK]',
      mask_token: null,
      output_mode: 'int',
      sparse: false,
      pad_to_max_tokens: false,
      vocabulary: ['p', 'q'],
      idf_weights: null,
      encoding: 'utf-8',
      vocabulary_size: 3,
    };
    expect(StringLookup.fromConfig(config).apply(['q', 'p'])).toEqual([2, 1]);
    expect(StringLookup.fromConfig({ ...config, invert: true }).apply([2, 1]) as unknown).toEqual(['q', 'p']);
    for (const key of ['colour', 'toString', 'constructor'])
      expect(() => StringLookup.fromConfig({ ...config, [key]: 1 })).toThrowMatching(named('ValueError', key));
    for (const [key, value] of Object.entries({ encoding: 'ascii', sparse: true })) {
      expect(() => StringLookup.fromConfig({ ...config, [key]: value })).toThrowMatching(named('ValueError', key));
    }
  });

  it('say what is wrong', () => {
    const make = (args: object) => () => new StringLookup(args);
    expect(make({ maxTokens: 1 })).toThrowMatching(named('ValueError', 'maxTokens'));
    expect(make({ maxTokens: '9' })).toThrowMatching(named('TypeError', 'maxTokens'));
    expect(make({ numOovIndices: -1 })).toThrowMatching(named('ValueError', 'numOovIndices'));
    expect(make({ numOovIndices: 1.5 })).toThrowMatching(named('ValueError', 'numOovIndices'));
    expect(make({ maskToken: 3 })).toThrowMatching(named('TypeError', 'maskToken'));
    expect(make({ oovToken: 3 })).toThrowMatching(named('TypeError', 'oovToken'));
    expect(make({ name: 3 })).toThrowMatching(named('TypeError', 'name'));
    expect(make({ outputMode: 'hot' })).toThrowMatching(named('ValueError', 'outputMode'));
    expect(make({ outputMode: 'count', invert: true })).toThrowMatching(named('ValueError', 'outputMode'));
    expect(make({ invert: 1 })).toThrowMatching(named('TypeError', 'invert'));
    expect(make({ padToMaxTokens: true })).toThrowMatching(named('ValueError', 'maxTokens'));
    expect(make({ padToMaxTokens: 'yes', maxTokens: 3 })).toThrowMatching(named('TypeError', 'padToMaxTokens'));
    expect(make({ idfWeights: [1] })).toThrowMatching(named('ValueError', 'idfWeights'));
    expect(make({ vocabulary: ['a'], idfWeights: [1] })).toThrowMatching(named('ValueError', 'idfWeights'));
    const weighted = { outputMode: 'tfIdf', vocabulary: ['a', 'b'] };
    expect(make(weighted)).toThrowMatching(named('ValueError', 'idfWeights'));
    expect(make({ ...weighted, idfWeights: [1] })).toThrowMatching(named('ValueError', 'idfWeights'));
    expect(make({ ...weighted, idfWeights: ['x', 1] })).toThrowMatching(named('TypeError', 'idfWeights'));
    expect(make({ ...weighted, idfWeights: 3 })).toThrowMatching(named('TypeError', 'idfWeights'));
    expect(make({ oovMethod: 'hash' })).toThrowMatching(named('ValueError', 'oovMethod'));
    expect(make({ oovMethod: 1 })).toThrowMatching(named('TypeError', 'oovMethod'));
    expect(make({ salt: 'x' })).toThrowMatching(named('TypeError', 'salt'));
    expect(() => new IntegerLookup({ salt: 3 })).toThrowMatching(named('ValueError', 'salt'));
    expect(make({ vocabulary: '/nowhere/words.txt' })).toThrowMatching(named('ValueError', 'vocabulary'));
    expect(make({ vocabulary: { text: 3 } })).toThrowMatching(named('TypeError', 'vocabulary.text'));
    expect(make({ vocabulary: { text: 'a\nb\na' } })).toThrowMatching(named('ValueError', 'vocabulary'));
    expect(make({ vocabulary: ['[UNK]', 'a', '[UNK]'], invert: true })).toThrowMatching(
      named('ValueError', 'vocabulary'),
    );
    expect(() => new IntegerLookup({ vocabulary: { text: '1\nx' } })).toThrowMatching(
      named('ValueError', 'vocabulary'),
    );
    expect(make({ vocabulary: ['a', 4] })).toThrowMatching(named('TypeError', 'vocabulary'));
    expect(make({ vocabulary: ['a', 'a'] })).toThrowMatching(named('ValueError', 'vocabulary'));
    expect(make({ vocabulary: ['a', ''], maskToken: '' })).toThrowMatching(named('ValueError', 'vocabulary'));
    expect(make({ vocabulary: ['a', 'b'], maxTokens: 2 })).toThrowMatching(named('ValueError', 'vocabulary'));
    expect(make({ vocab: ['a'] })).toThrowMatching(named('ValueError', 'vocab'));
    expect(() => StringLookup.fromConfig(null as unknown as object)).toThrowMatching(named('TypeError', 'config'));
    expect(() => new IntegerLookup({ vocabulary: [0.5] })).toThrowMatching(named('ValueError', 'vocabulary'));
  });

  it('learn nothing where the rows for unknown values take all of maxTokens, or more', () => {
    for (const [maxTokens, numOovIndices] of [
      [3, 2],
      [2, 2],
      [2, 5],
    ] as const) {
      // prettier-ignore
      const lookup = new StringLookup({ maxTokens, numOovIndices, maskToken: '' });
      lookup.adapt(['a', 'a', 'b', 'c', 'd', 'e', '']);
      expect(lookup.getVocabulary(false)).toEqual([]);
      expect(lookup.vocabularySize()).toBe(numOovIndices + 1);
      const ids = lookup.apply(['', 'a', 'e']);
      expect(ids[0]).toBe(0);
      for (const id of ids.slice(1)) expect(id >= 1 && id <= numOovIndices).toBeTrue();
    }
    const room = new StringLookup({ maxTokens: 4, numOovIndices: 2, maskToken: '' });
    expect(room.adapt(['a', 'a', 'b']).getVocabulary(false)).toEqual(['a']);
  });

  it('refuse calls in the wrong order', () => {
    expect(() => new StringLookup().apply(['a'])).toThrowMatching(named('RuntimeError', 'apply'));
    const fixed = new StringLookup({ vocabulary: ['a'] });
    expect(() => fixed.adapt(['b'])).toThrowMatching(named('RuntimeError', 'adapt'));
  });

  it('refuse batches that are none', async () => {
    const learn = (batch: unknown, steps?: unknown) => (): StringLookup =>
      new StringLookup().adapt([batch][Symbol.iterator]() as never as Iterable<string[]>, { steps: steps as number });
    expect(learn({ xs: ['a'], ys: [1] })).toThrowMatching(named('TypeError', 'data[0]'));
    expect(learn({ features: {} })).toThrowMatching(named('TypeError', 'data[0]'));
    expect(learn(null)).toThrowMatching(named('TypeError', 'data[0]'));
    expect(learn(['a'], 0)).toThrowMatching(named('ValueError', 'steps'));
    expect(learn(['a'], '1')).toThrowMatching(named('TypeError', 'steps'));

    const slow = async function* (): AsyncGenerator<string[]> {
      yield ['a'];
      yield null as never;
    };
    const failed: unknown = await new StringLookup().adapt(slow()).catch((error: unknown) => error);
    expect((failed as { argument?: string }).argument).toBe('data[1]');
  });

  it('refuse unknown values where there is no row for them', () => {
    const lookup = new StringLookup({ numOovIndices: 0, vocabulary: ['a', 'b'] });
    expect(lookup.apply(['b', 'a'])).toEqual([1, 0]);
    expect(() => lookup.apply(['a', 'z'])).toThrowError(/"z" at position 1/);
  });
});
