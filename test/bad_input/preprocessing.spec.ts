/** Wrong arguments of `emb.preprocessing`. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeWrongArguments, disposedTensor, made, useCpu, type Wrong } from './wrong_arguments.js';

const {
  CategoryEncoding,
  Discretization,
  HashedCrossing,
  Hashing,
  IntegerLookup,
  Normalization,
  StringLookup,
  TextVectorization,
} = emb.preprocessing;

const WHOLE: readonly Wrong[] = [
  ['text', '3', 'TypeError'],
  ['a fraction', 2.5, 'ValueError'],
  ['NaN', NaN, 'ValueError'],
  ['Infinity', Infinity, 'ValueError'],
  ['-1', -1, 'ValueError'],
  ['2^31', 2 ** 31, 'ValueError'],
];
const NAME: readonly Wrong[] = [['a number', 3, 'TypeError']];
const MODE: readonly Wrong[] = [
  ['a number', 1, 'TypeError'],
  ['another', 'two_hot', 'ValueError'],
];
const CONTAINER: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['an empty object', {}, 'TypeError'],
  ['a bool tensor', made(() => tf.ones([2], 'bool')), 'TypeError'],
  ['a disposed tensor', disposedTensor([2]), 'ValueError'],
  ['null in it', [null], 'TypeError'],
  ['a symbol in it', [Symbol('s')], 'TypeError'],
];
const TRUTH: readonly Wrong[] = [['text', 'yes', 'TypeError']];
const LOOKUP = {
  name: NAME,
  invert: TRUTH,
  padToMaxTokens: TRUTH,
  oovMethod: MODE,
  maxTokens: [...WHOLE, ['1', 1, 'ValueError'] as Wrong],
  numOovIndices: WHOLE,
  outputMode: MODE,
};

describe('preprocessing', () => {
  beforeAll(useCpu);

  const strings = { ...LOOKUP, maskToken: NAME, oovToken: NAME, vocabulary: [
    ['a file that is not there', '/nowhere/abc', 'ValueError'],
    ['a number in it', ['a', 1], 'TypeError'],
    ['repeated', ['a', 'a'], 'ValueError'],
  ] as Wrong[] }; // prettier-ignore
  const numbers = { ...LOOKUP, maskToken: [['text', '0', 'TypeError'], ['a fraction', 0.5, 'ValueError']] as Wrong[], vocabulary: [
    ['a file that is not there', '/nowhere/abc', 'ValueError'],
    ['text in it', [1, 'a'], 'TypeError'],
    ['repeated', [1, 1], 'ValueError'],
    ['NaN in it', [NaN], 'ValueError'],
  ] as Wrong[] }; // prettier-ignore
  const welcome = {
    maskToken: ['a bigint'],
    oovToken: ['a bigint'],
    maskValue: ['a bigint'],
    invert: ['true'],
    padToMaxTokens: ['true'],
  };

  describeWrongArguments('StringLookup', { right: () => ({ maxTokens: 9 }), call: (args) => new StringLookup(args), wrong: strings, welcome: { invert: ['true'], padToMaxTokens: ['true'] } }); // prettier-ignore
  describeWrongArguments('IntegerLookup', { right: () => ({ maxTokens: 9 }), call: (args) => new IntegerLookup(args), wrong: numbers, welcome }); // prettier-ignore
  describeWrongArguments('Hashing', {
    right: () => ({ numBins: 3 }),
    call: (args) => new Hashing(args as never),
    wrong: {
      numBins: [...WHOLE, ['undefined', undefined, 'TypeError'], ['0', 0, 'ValueError']],
      name: NAME,
      outputMode: MODE,
      salt: [
        ['text', '1', 'TypeError'],
        ['a fraction', 0.5, 'ValueError'],
        ['three', [1, 2, 3], 'ValueError'],
      ],
      maskValue: [['a fraction', 0.5, 'ValueError']],
    },
  });
  describeWrongArguments('HashedCrossing', {
    right: () => ({ numBins: 3 }),
    call: (args) => new HashedCrossing(args as never),
    wrong: {
      numBins: [...WHOLE, ['undefined', undefined, 'TypeError'], ['0', 0, 'ValueError']],
      name: NAME,
      outputMode: [...MODE, ['multiHot', 'multiHot', 'ValueError']],
    },
  });
  describeWrongArguments('CategoryEncoding', {
    right: () => ({ numTokens: 3 }),
    call: (args) => new CategoryEncoding(args as never),
    wrong: {
      numTokens: [...WHOLE, ['undefined', undefined, 'TypeError'], ['0', 0, 'ValueError']],
      name: NAME,
      outputMode: [...MODE, ['int', 'int', 'ValueError'], ['tfIdf', 'tfIdf', 'ValueError']],
    },
  });
  describeWrongArguments('Normalization', {
    right: () => ({ mean: 1, variance: 2 }),
    call: (args) => new Normalization(args),
    wrong: {
      name: NAME,
      axis: [
        ['text', '1', 'TypeError'],
        ['a fraction', 0.5, 'ValueError'],
      ],
      mean: [
        ['text', '1', 'TypeError'],
        ['null', null, 'ValueError'],
        ['another shape', [1, 2], 'ValueError', 'variance'],
      ],
      variance: [
        ['text', '1', 'TypeError'],
        ['null', null, 'ValueError'],
      ],
      invert: TRUTH,
    },
    welcome: { invert: ['true'] },
  });
  describeWrongArguments('TextVectorization', {
    right: () => ({ maxTokens: 9 }),
    call: (args) => new TextVectorization(args),
    wrong: {
      name: NAME,
      maxTokens: LOOKUP.maxTokens,
      standardize: MODE,
      split: MODE,
      ngrams: [
        ['text', '2', 'TypeError'],
        ['0', 0, 'ValueError'],
        ['a fraction', 1.5, 'ValueError'],
        ['none', [], 'ValueError'],
        ['text in it', [1, '2'], 'TypeError'],
      ],
      outputMode: MODE,
      outputSequenceLength: [...WHOLE, ['0', 0, 'ValueError']],
      ragged: TRUTH,
      padToMaxTokens: LOOKUP.padToMaxTokens,
      vocabulary: strings.vocabulary,
    },
    welcome: { standardize: ['a function'], split: ['a function'], ragged: ['true'], padToMaxTokens: ['true'] },
  });
  describeWrongArguments('Discretization', {
    right: () => ({ numBins: 3 }),
    call: (args) => new Discretization(args),
    wrong: {
      numBins: [...WHOLE, ['undefined', undefined, 'ValueError'], ['0', 0, 'ValueError']],
      epsilon: [
        ['text', '1', 'TypeError'],
        ['0', 0, 'ValueError'],
        ['1', 1, 'ValueError'],
        ['NaN', NaN, 'ValueError'],
      ],
      name: NAME,
      outputMode: MODE,
    },
  });
  describeWrongArguments('Discretization with boundaries', {
    right: () => ({ binBoundaries: [0, 1] }),
    call: (args) => new Discretization(args),
    wrong: {
      binBoundaries: [
        ['text', 'abc', 'TypeError'],
        ['text in it', [0, 'a'], 'TypeError'],
        ['NaN', [0, NaN], 'ValueError'],
        ['falling', [1, 0], 'ValueError'],
      ],
    },
  });

  const made4 = {
    StringLookup: () => new StringLookup({ vocabulary: ['a'] }),
    IntegerLookup: () => new IntegerLookup({ vocabulary: [1] }),
    Hashing: () => new Hashing({ numBins: 3 }),
    Discretization: () => new Discretization({ binBoundaries: [0, 1] }),
    TextVectorization: () => new TextVectorization({ vocabulary: ['a'] }),
    CategoryEncoding: () => new CategoryEncoding({ numTokens: 20 }),
    Normalization: () => new Normalization({ mean: 1, variance: 2 }),
  };
  const right = {
    StringLookup: ['a'],
    IntegerLookup: [1],
    Hashing: ['a'],
    Discretization: [1],
    TextVectorization: ['a'],
    CategoryEncoding: [1],
    Normalization: [1],
  };
  for (const [name, make] of Object.entries(made4)) {
    const takesBigint = name !== 'StringLookup' && name !== 'TextVectorization';
    describeWrongArguments(`${name}.apply`, {
      right: () => ({ data: right[name as keyof typeof right] }),
      call: ({ data }) => (make() as { apply(data: never): unknown }).apply(data as never),
      wrong: { data: CONTAINER },
      welcome: { data: takesBigint ? ['a bigint'] : [] },
    });
    const cls = emb.preprocessing[name as keyof typeof emb.preprocessing];
    describeWrongArguments(`${name}.fromConfig`, {
      right: () => ({ config: make().getConfig() }),
      call: ({ config }) => cls.fromConfig(config as never),
      wrong: {
        config: [
          ['undefined', undefined, 'TypeError'],
          ['null', null, 'TypeError'],
          ['text', 'abc', 'TypeError'],
          ['a list', [], 'TypeError'],
          ['an unknown key', { nobody: 1 }, 'ValueError', 'nobody'],
        ],
      },
      welcome: { config: ['an object without prototype', 'an instance of a class'] },
    });
  }
  for (const [name, make] of Object.entries({
    StringLookup: () => new StringLookup(),
    IntegerLookup: () => new IntegerLookup(),
    Discretization: () => new Discretization({ numBins: 2 }),
    TextVectorization: () => new TextVectorization(),
    Normalization: () => new Normalization({ axis: null }),
  })) {
    describeWrongArguments(`${name}.adapt`, {
      right: () => ({ data: right[name as keyof typeof right] }),
      call: ({ data }) => void make().adapt(data as never),
      wrong: { data: CONTAINER },
      welcome: { data: name === 'StringLookup' || name === 'TextVectorization' ? [] : ['a bigint'] },
    });
    it(`${name} applied before it has learned anything is a RuntimeError`, () => {
      expect(() =>
        (make() as { apply(data: never): unknown }).apply(right[name as keyof typeof right] as never),
      ).toThrowError(emb.RuntimeError);
    });
  }
});
