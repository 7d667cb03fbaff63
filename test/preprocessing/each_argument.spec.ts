/** Every argument of what stands in `preprocessing`, right and odd, with what then comes of some values. */
import * as preprocessing from '../../src/preprocessing/index.js';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';

type Args = Record<string, unknown>;

interface Applied {
  getConfig(): object;
  apply(data: unknown): unknown;
}

/** The config of an instance, and what it makes of these values. */
function applied(make: (args: never) => unknown, args: () => Args, data: unknown): Call {
  return {
    args,
    run: (given) => {
      const instance = make(given as never) as Applied;
      return { ...instance.getConfig(), ids: instance.apply(data) };
    },
  };
}

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  StringLookup: applied(
    (args) => new preprocessing.StringLookup(args),
    () => ({
      name: 'words',
      maxTokens: 7,
      numOovIndices: 2,
      maskToken: '',
      oovToken: '[UNK]',
      vocabulary: ['a', 'b', 'c'],
      idfWeights: [0.5, 1, 2],
      invert: false,
      outputMode: 'tfIdf',
      padToMaxTokens: true,
      oovMethod: 'farmhash',
      salt: [3, 4],
    }),
    [['a', 'c', '', 'other'], ['b', 'b', 'zz', 'a']], // prettier-ignore
  ),
  IntegerLookup: applied(
    (args) => new preprocessing.IntegerLookup(args),
    () => ({
      name: 'numbers',
      maxTokens: 9,
      numOovIndices: 3,
      maskToken: 0,
      oovToken: -7,
      vocabulary: [5, 12, -2],
      idfWeights: null,
      invert: false,
      outputMode: 'int',
      padToMaxTokens: false,
      oovMethod: 'floormod',
      salt: null,
    }),
    [[5, 0, -2, 77], [12, 1, -1, 2]], // prettier-ignore
  ),
  Hashing: applied(
    (args) => new preprocessing.Hashing(args),
    () => ({ name: 'hashes', numBins: 5, maskValue: 'b', salt: 6, outputMode: 'int' }),
    ['a', 'b', '', 'zz'],
  ),
  Discretization: applied(
    (args) => new preprocessing.Discretization(args),
    () => ({ name: 'bins', binBoundaries: [0, 1.5], numBins: null, epsilon: 0.01, outputMode: 'oneHot' }),
    [-1, 0, 1.5, 3],
  ),
  'Discretization.adapt': {
    args: () => ({ numBins: 3, epsilon: 0.1 }),
    run: (args: { numBins: number }) =>
      new preprocessing.Discretization(args).adapt([5, 1, 4, 2, 8, 9, 3]).getConfig().binBoundaries,
  },
  TextVectorization: applied(
    (args) => new preprocessing.TextVectorization(args),
    () => ({
      name: 'texts',
      maxTokens: 6,
      standardize: 'lower',
      split: 'whitespace',
      ngrams: 2,
      outputMode: 'tfIdf',
      outputSequenceLength: null,
      ragged: false,
      padToMaxTokens: true,
      vocabulary: ['a', 'b', 'a b'],
      idfWeights: [0.5, 1, 2],
    }),
    ['A b', 'b, c', ''],
  ),
  'TextVectorization of ids': applied(
    (args) => new preprocessing.TextVectorization(args),
    () => ({
      maxTokens: null,
      standardize: 'strip_punctuation',
      split: 'character',
      ngrams: null,
      outputMode: 'int',
      outputSequenceLength: 3,
      ragged: true,
      vocabulary: ['a', 'b'],
    }),
    ['A b', 'b, c!', ''],
  ),
  HashedCrossing: applied(
    (args) => new preprocessing.HashedCrossing(args),
    () => ({ name: 'crosses', numBins: 7, outputMode: 'int' }),
    [['a', 'b', 'c'], [1, 2, 3]], // prettier-ignore
  ),
  CategoryEncoding: applied(
    (args) => new preprocessing.CategoryEncoding(args),
    () => ({ name: 'places', numTokens: 3, outputMode: 'count' }),
    [[0, 2], [1, 1]], // prettier-ignore
  ),
  Normalization: applied(
    (args) => new preprocessing.Normalization(args),
    () => ({ name: 'scaled', axis: -1, mean: [1, 2], variance: [4, 0.25], invert: false }),
    [[1, 2], [3, 5]], // prettier-ignore
  ),
  Pipeline: {
    args: () => ({ first: 'int', second: 'float', third: new preprocessing.StringLookup({ vocabulary: ['a'] }) }),
    run: (columns: Record<string, 'int'>) => {
      const pipeline = new preprocessing.Pipeline({ columns });
      return { ...pipeline.getConfig(), ids: pipeline.apply({ first: [1], second: [0.5], third: ['a'] }) };
    },
  },
});
