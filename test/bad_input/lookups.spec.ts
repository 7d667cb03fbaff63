/** Wrong arguments of `embeddingLookup` and `safeEmbeddingLookup`. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import {
  describeWrongArguments,
  disposedTensor,
  made,
  useCpu,
  variable,
  type Arguments,
  type Wrong,
} from './wrong_arguments.js';

const TABLE: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['a number', 3, 'TypeError'],
  ['a typed array', new Float32Array(6), 'TypeError'],
  ['a rank-1 tensor', made(() => tf.zeros([6])), 'TypeError'],
  ['a rank-3 tensor', made(() => tf.zeros([3, 2, 1])), 'TypeError'],
  ['an int32 tensor', made(() => tf.zeros([3, 2], 'int32')), 'TypeError'],
  ['a tensor without columns', made(() => tf.zeros([3, 0])), 'ValueError'],
  ['a disposed tensor', disposedTensor(), 'ValueError'],
];
const LISTS: readonly Wrong[] = [
  ['an empty list', [], 'ValueError'],
  ['a list with null', [null], 'TypeError', 'table[0]'],
  ['a list with a number', made(() => [tf.zeros([3, 2]), 5]), 'TypeError', 'table[1]'],
  ['tables of two widths', made(() => [tf.zeros([2, 2]), tf.zeros([1, 3])]), 'ValueError', 'table[1]'],
  ['uneven parts of mod', made(() => [tf.zeros([1, 2]), tf.zeros([3, 2])]), 'ValueError', 'table[0]'],
];
const pairOf = (values: unknown, rowSplits: unknown): object => ({ values, rowSplits });
const IDS: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['text', 'abc', 'TypeError'],
  ['an empty object', {}, 'TypeError'],
  ['text among numbers', [[0, '1']], 'TypeError'],
  ['null among numbers', [[0, null]], 'TypeError'],
  ['a bigint among numbers', [[0, 1n]], 'TypeError'],
  ['a symbol among numbers', [[0, Symbol('s')]], 'TypeError'],
  ['a hole', [[0, , 1]], 'TypeError'], // eslint-disable-line no-sparse-arrays
  ['NaN', [[0, NaN]], 'ValueError'],
  ['Infinity', [[0, Infinity]], 'ValueError'],
  ['a fraction', [[0, 0.5]], 'ValueError'],
  ['2^31', [[0, 2 ** 31]], 'ValueError'],
  ['-2^31 - 1', [[0, -(2 ** 31) - 1]], 'ValueError'],
  ['a fraction in a tensor', made(() => tf.tensor2d([[0, 1.5]])), 'ValueError'],
  ['NaN in a tensor', made(() => tf.tensor2d([[0, NaN]])), 'ValueError'],
  ['2^24 + 2 in a float32 tensor', made(() => tf.tensor2d([[0, 2 ** 24 + 2]])), 'ValueError'],
  ['2^24 + 2 in a Float32Array', pairOf(Float32Array.of(2 ** 24 + 2), [0, 1]), 'ValueError', 'ids.values'],
  ['a bool tensor', made(() => tf.tensor2d([[true]], [1, 1], 'bool')), 'TypeError'],
  ['a string tensor', made(() => tf.tensor2d([['a']], [1, 1], 'string')), 'TypeError'],
  ['a disposed tensor', disposedTensor([2, 2], 'int32'), 'ValueError'],
  ['a disposed float tensor', disposedTensor([2, 2]), 'ValueError'],
  ['a number beside an array', [[0], 1], 'ValueError'],
  ['a pair of a typed array and text', [Int32Array.of(0), 'x'], 'TypeError'],
  ['two typed arrays', [Int32Array.of(0, 1), Int32Array.of(0, 2)], 'TypeError'],
  ['a tensor and a typed array', made(() => [tf.tensor1d([0, 1], 'int32'), Int32Array.of(0, 2)]), 'TypeError'],
  ['big ids that do not fit', pairOf(BigInt64Array.of(2n ** 40n), [0, 1]), 'ValueError', 'ids.values'],
  ['splits from 1', pairOf([0, 1], [1, 2]), 'ValueError', 'ids.rowSplits'],
  ['splits that fall', pairOf([0, 1], [0, 2, 1, 2]), 'ValueError', 'ids.rowSplits'],
  ['splits that end early', pairOf([0, 1], [0, 1]), 'ValueError', 'ids.rowSplits'],
  ['no splits', pairOf([], []), 'ValueError', 'ids.rowSplits'],
  ['splits that are undefined', pairOf([0], undefined), 'TypeError', 'ids.rowSplits'],
  ['splits of rank 2', made(() => [tf.tensor1d([0], 'int32'), tf.zeros([1, 2], 'int32')]), 'ValueError', 'ids[1]'],
  ['values of rank 2', made(() => [tf.zeros([1, 1], 'int32'), tf.tensor1d([0, 1], 'int32')]), 'ValueError', 'ids[0]'],
  ['rank-1 ids with a combiner', [0, 1], 'ValueError'],
  ['a scalar with a combiner', 1, 'ValueError'],
  ['an id beyond the table', [[0, 3]], 'ValueError'],
  ['sparse ids without denseShape', { indices: [[0, 0]], values: [0] }, 'TypeError', 'ids.denseShape'],
  ['a flat sparse shape', { indices: [0], values: [0], denseShape: [1] }, 'ValueError', 'ids.denseShape'],
  ['a negative sparse shape', { indices: [[0, 0]], values: [0], denseShape: [-1, 1] }, 'ValueError', 'ids.denseShape'],
  ['sparse values of text', { indices: [[0, 0]], values: ['a'], denseShape: [1, 1] }, 'TypeError', 'ids.values'],
  ['null sparse values', { indices: [[0, 0]], values: null, denseShape: [1, 1] }, 'TypeError', 'ids.values'],
  ['null sparse indices', { indices: null, values: [0], denseShape: [1, 1] }, 'TypeError', 'ids.indices'],
  ['too few indices', { indices: [[0, 0]], values: [0, 1], denseShape: [1, 2] }, 'ValueError', 'ids.indices'],
  ['indices of rank 3', { indices: [[0, 0, 0]], values: [0], denseShape: [1, 2] }, 'ValueError', 'ids.indices'],
  ['indices outside', { indices: [[0, 2]], values: [0], denseShape: [1, 2] }, 'ValueError', 'ids.indices'],
  [
    'unsorted indices',
    {
      indices: [
        [1, 0],
        [0, 0],
      ],
      values: [0, 1],
      denseShape: [2, 2],
    },
    'ValueError',
    'ids.indices',
  ],
];
const WEIGHTS: readonly Wrong[] = [
  ['text', 'abc', 'TypeError'],
  ['an empty object', {}, 'TypeError'],
  [
    'text among numbers',
    [
      [1, 'a'],
      [1, 1],
    ],
    'TypeError',
  ],
  [
    'null among numbers',
    [
      [1, null],
      [1, 1],
    ],
    'TypeError',
  ],
  [
    'NaN',
    [
      [1, NaN],
      [1, 1],
    ],
    'ValueError',
  ],
  [
    'NaN in a tensor',
    made(() =>
      tf.tensor2d([
        [1, NaN],
        [1, 1],
      ]),
    ),
    'ValueError',
  ],
  [
    'a number beyond float32',
    [
      [1, 1e300],
      [1, 1],
    ],
    'ValueError',
  ],
  ['an int32 tensor', made(() => tf.ones([2, 2], 'int32')), 'TypeError'],
  ['a bool tensor', made(() => tf.ones([2, 2], 'bool')), 'TypeError'],
  ['a disposed tensor', disposedTensor([2, 2]), 'ValueError'],
  ['one weight too few', [[1, 1], [1]], 'ValueError'],
  ['another shape', made(() => tf.ones([1, 4])), 'ValueError'],
  ['a short typed array', new Float32Array(3), 'ValueError'],
  ['an empty array', [], 'ValueError'],
  [
    'ragged weights',
    emb.RaggedTensor.fromRows([
      [1, 2],
      [3, 4],
    ]),
    'TypeError',
  ],
  ['sparse weights', { indices: [[0, 0]], values: [1], denseShape: [2, 2] }, 'TypeError'],
  ['weights with row splits', pairOf([1, 2, 3, 4], [0, 2, 4]), 'TypeError'],
  ['two typed arrays', [new Float32Array(4), Int32Array.of(0, 2, 4)], 'TypeError'],
];
const COMBINER: readonly Wrong[] = [
  ['another word', 'most', 'ValueError'],
  ['an empty word', '', 'ValueError'],
  ['a number', 1, 'TypeError'],
  ['a list', ['sum'], 'TypeError'],
];
const MAX_NORM: readonly Wrong[] = [
  ['0', 0, 'ValueError'],
  ['-1', -1, 'ValueError'],
  ['NaN', NaN, 'ValueError'],
  ['text', '1', 'TypeError'],
  ['below the least float32', 1e-60, 'ValueError'],
];
const OPTIONS: readonly Wrong[] = [
  ['null', null, 'TypeError'],
  ['text', 'sum', 'TypeError'],
  ['a number', 3, 'TypeError'],
  ['a list', ['sum'], 'TypeError'],
  ['a misspelt option', { combinr: 'sum' }, 'ValueError', 'combinr'],
];

function right(): Arguments {
  return {
    table: variable(3, 2),
    ids: [
      [0, 1],
      [2, 0],
    ],
    combiner: 'mean',
  };
}

describe('lookups', () => {
  beforeAll(useCpu);

  describeWrongArguments('embeddingLookup', {
    right,
    call: ({ table, ids, ...options }) => emb.embeddingLookup(table as never, ids as never, options),
    wrong: {
      table: [...TABLE, ...LISTS],
      ids: [...IDS, ['a negative id', [[0, -1]], 'ValueError']],
      combiner: COMBINER,
      weights: WEIGHTS,
      maxNorm: MAX_NORM,
      outOfRange: [
        ['another word', 'clip', 'ValueError'],
        ['a number', 0, 'TypeError'],
      ],
      partitionStrategy: [
        ['another word', 'range', 'ValueError'],
        ['a number', 0, 'TypeError'],
      ],
    },
  });

  describeWrongArguments('embeddingLookup without a combiner', {
    right: () => ({ table: tf.ones([3, 2]), ids: [[0, 1]] }),
    call: ({ table, ids, ...options }) => emb.embeddingLookup(table as never, ids as never, options),
    wrong: {
      ids: [
        ['an id beyond the table', [3], 'ValueError'],
        ['a negative id', [-1], 'ValueError'],
        ['sparse ids', { indices: [[0, 0]], values: [0], denseShape: [1, 2] }, 'ValueError', 'combiner'],
      ],
      weights: [['weights, which nothing divides', [[1, 1]], 'ValueError', 'combiner']],
    },
  });

  describeWrongArguments('embeddingLookup: its options', {
    right: () => ({ options: {} }),
    call: ({ options }) => tf.tidy(() => emb.embeddingLookup(tf.ones([3, 2]), [0, 1], options as never) as tf.Tensor),
    wrong: { options: OPTIONS },
    welcome: { options: ['an object without prototype', 'an instance of a class'] },
  });

  describeWrongArguments('safeEmbeddingLookup', {
    right,
    call: ({ table, ids, ...options }) => emb.safeEmbeddingLookup(table as never, ids as never, options),
    wrong: {
      table: TABLE,
      ids: IDS,
      combiner: COMBINER,
      weights: WEIGHTS,
      maxNorm: MAX_NORM,
      defaultId: [
        ['text', '0', 'TypeError'],
        ['a fraction', 0.5, 'ValueError'],
        ['NaN', NaN, 'ValueError'],
        ['-1', -1, 'ValueError'],
        ['the number of rows', 3, 'ValueError'],
      ],
    },
  });

  describeWrongArguments('safeEmbeddingLookup: its options', {
    right: () => ({ options: {} }),
    call: ({ options }) => tf.tidy(() => emb.safeEmbeddingLookup(tf.ones([3, 2]), [[0, 1]], options as never)),
    wrong: { options: OPTIONS },
    welcome: { options: ['an object without prototype', 'an instance of a class'] },
  });
});
