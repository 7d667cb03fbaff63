/** Wrong arguments of `RaggedTensor`. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeWrongArguments, disposedTensor, made, useCpu, type Wrong } from './wrong_arguments.js';

const VALUES: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['a number', 1, 'TypeError'],
  ['text', 'abc', 'TypeError'],
  ['text among numbers', [3, 'a', 4], 'TypeError'],
  ['a bigint among numbers', [3, 1n, 4], 'TypeError'],
  ['NaN', [3, NaN, 4], 'ValueError'],
  ['2^31', [3, 2 ** 31, 4], 'ValueError'],
  ['a scalar', made(() => tf.scalar(1)), 'ValueError'],
  ['a bool tensor', made(() => tf.ones([3], 'bool')), 'TypeError'],
  ['a disposed tensor', disposedTensor([3], 'int32'), 'ValueError'],
];
const VECTOR: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['text', 'abc', 'TypeError'],
  ['text in it', [0, 'a'], 'TypeError'],
  ['a fraction', [0, 1.5], 'ValueError'],
  ['NaN', [0, NaN], 'ValueError'],
  ['a matrix', made(() => tf.zeros([1, 2], 'int32')), 'ValueError'],
  ['a disposed tensor', disposedTensor([2], 'int32'), 'ValueError'],
];
const SPLITS: readonly Wrong[] = [
  ['empty', [], 'ValueError'],
  ['from 1', [1, 3], 'ValueError'],
  ['falling', [0, 2, 1, 3], 'ValueError'],
  ['too short', [0, 2], 'ValueError'],
  ['too long', [0, 4], 'ValueError'],
];
const INNER: readonly Wrong[] = [
  ['text', 'abc', 'TypeError'],
  ['a number', 1, 'TypeError'],
  ['text in it', ['a'], 'TypeError'],
  ['negative', [-1], 'ValueError'],
  ['a fraction', [0.5], 'ValueError'],
];
const DTYPE: readonly Wrong[] = [
  ['another', 'float64', 'ValueError'],
  ['a number', 1, 'TypeError'],
];

describe('RaggedTensor', () => {
  beforeAll(useCpu);
  const { RaggedTensor } = emb;

  describeWrongArguments('fromRowSplits', {
    right: () => ({ values: [3, 1, 4], rowSplits: [0, 2, 3] }),
    call: ({ values, rowSplits, innerShape }) =>
      RaggedTensor.fromRowSplits(values as never, rowSplits as never, innerShape as never),
    wrong: { values: VALUES, rowSplits: [...VECTOR, ...SPLITS], innerShape: INNER },
  });

  describeWrongArguments('fromNestedRowSplits', {
    right: () => ({ values: [7, 8, 9], nestedRowSplits: [[0, 2], [0, 1, 3]] }), // prettier-ignore
    call: ({ values, nestedRowSplits }) => RaggedTensor.fromNestedRowSplits(values as never, nestedRowSplits as never),
    wrong: {
      values: VALUES,
      nestedRowSplits: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['text', 'abc', 'TypeError'],
        ['empty', [], 'ValueError'],
        ['null in it', [null, [0, 3]], 'TypeError', 'nestedRowSplits[0]'],
        ['inner ones that do not fit', [[0, 2], [0, 1, 2]], 'ValueError', 'nestedRowSplits[1]'], // prettier-ignore
        ['outer ones that do not fit', [[0, 3], [0, 1, 3]], 'ValueError', 'nestedRowSplits[0]'], // prettier-ignore
      ],
    },
  });

  describeWrongArguments('fromRowLengths', {
    right: () => ({ values: [3, 1, 4], lengths: [2, 1] }),
    call: ({ values, lengths }) => RaggedTensor.fromRowLengths(values as never, lengths as never),
    wrong: {
      values: VALUES,
      lengths: [
        ...VECTOR,
        ['negative', [4, -1], 'ValueError'],
        ['another sum', [1, 1], 'ValueError'],
        ['beyond int32', [2 ** 31 - 1, 4], 'ValueError'],
      ],
    },
  });

  describeWrongArguments('fromRows', {
    right: () => ({ rows: [[3, 1], [4]] }),
    call: ({ rows, ...options }) => RaggedTensor.fromRows(rows as never, options),
    wrong: {
      rows: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['flat', [1, 2], 'ValueError'],
        ['uneven depth', [[1], 2], 'ValueError'],
        ['text', [['a']], 'TypeError'],
        ['NaN', [[NaN]], 'ValueError'],
      ],
      dtype: DTYPE,
    },
  });

  describeWrongArguments('fromPadded', {
    right: () => ({ padded: [[3, 1], [4, -1]] }), // prettier-ignore
    call: ({ padded, ...options }) => RaggedTensor.fromPadded(padded as never, options),
    wrong: {
      padded: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['text', 'abc', 'TypeError'],
        ['a vector', [1, 2], 'ValueError'],
        ['uneven rows', [[1], [1, 2]], 'ValueError'],
        ['a vector tensor', made(() => tf.zeros([2])), 'ValueError'],
        ['a string tensor', made(() => tf.tensor2d([['a']])), 'TypeError'],
        ['a disposed tensor', disposedTensor([2, 2]), 'ValueError'],
      ],
      lengths: [
        ['text', 'abc', 'TypeError'],
        ['too few', [1], 'ValueError'],
        ['too long', [3, 0], 'ValueError'],
        ['negative', [-1, 0], 'ValueError'],
        ['a fraction', [1.5, 1], 'ValueError'],
      ],
      padding: [
        ['text', '-1', 'TypeError'],
        ['a fraction', 0.5, 'ValueError'],
        ['NaN', NaN, 'ValueError'],
      ],
    },
  });

  describeWrongArguments('fromSparse', {
    right: () => ({ sparse: { indices: [[0, 0]], values: [3], denseShape: [1, 2] } }),
    call: ({ sparse, ...options }) => RaggedTensor.fromSparse(sparse as never, options),
    wrong: {
      sparse: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['an empty object', {}, 'TypeError'],
        ['a vector', { indices: [[0]], values: [3], denseShape: [1] }, 'ValueError', 'sparse.denseShape'],
        ['a gap', { indices: [[0, 1]], values: [3], denseShape: [1, 2] }, 'ValueError', 'sparse.indices'],
      ],
      dtype: DTYPE,
    },
  });

  describeWrongArguments('toPadded', {
    right: () => ({ defaultValue: -1 }),
    call: (options) => RaggedTensor.fromRows([[3, 1], [4]]).toPadded(options),
    wrong: {
      defaultValue: [
        ['text', '-1', 'TypeError'],
        ['a fraction', 0.5, 'ValueError'],
        ['NaN', NaN, 'ValueError'],
        ['2^31', 2 ** 31, 'ValueError'],
      ],
      maxLength: [
        ['text', '2', 'TypeError'],
        ['a fraction', 1.5, 'ValueError'],
        ['negative', -1, 'ValueError'],
        ['NaN', NaN, 'ValueError'],
        ['too many', [1, 1], 'ValueError'],
      ],
    },
  });

  for (const [method, call] of Object.entries({
    fromRows: (options: never) => RaggedTensor.fromRows([[1]], options),
    fromPadded: (options: never) => RaggedTensor.fromPadded([[1]], options),
    toPadded: (options: never) => RaggedTensor.fromRows([[1]]).toPadded(options),
  })) {
    describeWrongArguments(`${method}: its options`, {
      right: () => ({ options: {} }),
      call: ({ options }) => call(options as never),
      wrong: {
        options: [
          ['null', null, 'TypeError'],
          ['a number', 1, 'TypeError'],
          ['text', 'int32', 'TypeError'],
          ['a misspelt one', { maxLen: 1 }, 'ValueError', 'maxLen'],
        ],
      },
      welcome: { options: ['an object without prototype', 'an instance of a class'] },
    });
  }
});
