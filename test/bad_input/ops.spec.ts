/** Wrong arguments of `emb.ops` and `emb.sparse`. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../helpers/errors.js';
import {
  describeWrongArguments,
  disposedTensor,
  made,
  useCpu,
  variable,
  type Arguments,
  type Wrong,
} from './wrong_arguments.js';

const VALUES: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['a number', 1, 'TypeError'],
  ['text', 'abc', 'TypeError'],
  ['text among numbers', [0, 'a', 1], 'TypeError'],
  ['a bigint among numbers', [0, 1n, 1], 'TypeError'],
  ['an array of arrays', [[0], [1], [2]], 'TypeError'],
  ['NaN', [0, NaN, 1], 'ValueError'],
  ['a fraction', [0, 0.5, 1], 'ValueError'],
  ['Infinity', [0, Infinity, 1], 'ValueError'],
  ['2^31', [0, 2 ** 31, 1], 'ValueError'],
  ['2^24 + 2 in a Float32Array', Float32Array.of(0, 2 ** 24 + 2, 1), 'ValueError'],
  ['2^40 in a BigInt64Array', BigInt64Array.of(0n, 2n ** 40n, 1n), 'ValueError'],
  ['2^32 - 1 in a Uint32Array', Uint32Array.of(0, 2 ** 32 - 1, 1), 'ValueError'],
  ['a float32 tensor', made(() => tf.tensor1d([0, 1, 2])), 'TypeError'],
  ['a matrix', made(() => tf.zeros([3, 1], 'int32')), 'ValueError'],
  ['a scalar', made(() => tf.scalar(1, 'int32')), 'ValueError'],
  ['a disposed tensor', disposedTensor([3], 'int32'), 'ValueError'],
];
const SPLITS: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['text', 'abc', 'TypeError'],
  ['empty', [], 'ValueError'],
  ['from 1', [1, 3], 'ValueError'],
  ['falling', [0, 2, 1, 3], 'ValueError'],
  ['too short', [0, 2], 'ValueError'],
  ['too long', [0, 4], 'ValueError'],
  ['fractions', [0, 1.5, 3], 'ValueError'],
  ['negative', [0, -1, 3], 'ValueError'],
  ['a float32 tensor', made(() => tf.tensor1d([0, 3])), 'TypeError'],
  ['a matrix', made(() => tf.zeros([1, 2], 'int32')), 'ValueError'],
  ['an empty tensor', made(() => tf.tensor1d([], 'int32')), 'ValueError'],
  ['a falling tensor', made(() => tf.tensor1d([0, 4, 3], 'int32')), 'ValueError'],
  ['a disposed tensor', disposedTensor([2], 'int32'), 'ValueError'],
];
const WEIGHTS: readonly Wrong[] = [
  ['text', 'abc', 'TypeError'],
  ['text among numbers', [1, '1', 1], 'TypeError'],
  ['too few', [1, 1], 'ValueError'],
  ['none', [], 'ValueError'],
  ['too many', new Float32Array(4), 'ValueError'],
  ['NaN', [1, NaN, 1], 'ValueError'],
  ['NaN in a tensor', made(() => tf.tensor1d([1, NaN, 1])), 'ValueError'],
  ['beyond float32', [1, 1e39, 1], 'ValueError'],
  ['an int32 tensor', made(() => tf.ones([3], 'int32')), 'TypeError'],
  ['a matrix', made(() => tf.ones([3, 1])), 'ValueError'],
  ['a disposed tensor', disposedTensor([3]), 'ValueError'],
];
const COMBINER: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['another word', 'most', 'ValueError'],
  ['upper case', 'SUM', 'ValueError'],
  ['a name of Object', 'constructor', 'ValueError'],
];
const OUT_OF_RANGE: readonly Wrong[] = [
  ['another word', 'ignore', 'ValueError'],
  ['a number', 1, 'TypeError'],
];
const MAX_NORM: readonly Wrong[] = [
  ['0', 0, 'ValueError'],
  ['-1', -1, 'ValueError'],
  ['NaN', NaN, 'ValueError'],
  ['text', '2', 'TypeError'],
];
const VALIDATE: readonly Wrong[] = [
  ['1', 1, 'TypeError'],
  ['text', 'yes', 'TypeError'],
];
const OPTIONS: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['text', 'sum', 'TypeError'],
  ['a list', ['sum'], 'TypeError'],
  ['none of them', {}, 'TypeError', 'combiner'],
  ['a misspelt one', { combiner: 'sum', weight: [1, 1, 1] }, 'ValueError', 'weight'],
];
const UNREADABLE = ['an object without prototype', 'an instance of a class'];

function bags(): Arguments {
  return { values: [0, 2, 1], rowSplits: [0, 2, 3], combiner: 'sum' };
}

type Bag = Parameters<typeof emb.ops.embeddingBag>;

function callBag(table: unknown, values: unknown, rowSplits: unknown, options: unknown): unknown {
  return emb.ops.embeddingBag(...([table, values, rowSplits, options] as unknown as Bag));
}

describe('kernels as functions', () => {
  beforeAll(useCpu);

  describeWrongArguments('embeddingBag', {
    right: () => ({ table: variable(3, 2), ...bags() }),
    call: ({ table, values, rowSplits, ...options }) => callBag(table, values, rowSplits, options),
    wrong: {
      table: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['arrays', [[1, 2]], 'TypeError'],
        ['a vector', made(() => tf.zeros([6])), 'TypeError'],
        ['int32', made(() => tf.zeros([3, 2], 'int32')), 'TypeError'],
        ['disposed', disposedTensor(), 'ValueError'],
        ['without rows', made(() => tf.zeros([0, 2])), 'ValueError', 'ids'],
      ],
      values: [
        ...VALUES,
        ['the number of rows', [0, 3, 1], 'ValueError', 'ids'],
        ['a negative id', [0, -1, 1], 'ValueError', 'ids'],
        ['fewer than the splits say', [0, 1], 'ValueError', 'rowSplits'],
      ],
      rowSplits: SPLITS,
      weights: WEIGHTS,
      combiner: COMBINER,
      outOfRange: OUT_OF_RANGE,
      maxNorm: MAX_NORM,
      validate: VALIDATE,
    },
    welcome: { validate: ['true'] },
  });

  describeWrongArguments('embeddingBag: its options', {
    right: () => ({ table: tf.ones([3, 2]), options: { combiner: 'sum' } }),
    call: ({ table, options }) => callBag(table, [0], [0, 1], options),
    wrong: { options: OPTIONS },
    welcome: { options: UNREADABLE },
  });

  const callGrad = ({ gradient, values, rowSplits, ...options }: Arguments): unknown => {
    const result = emb.ops.embeddingBagGrad(gradient as never, values as never, rowSplits as never, options as never);
    tf.dispose(result);
    return result;
  };

  describeWrongArguments('embeddingBagGrad', {
    right: () => ({ gradient: tf.ones([2, 2]), ...bags(), rows: 3 }),
    call: callGrad,
    wrong: {
      gradient: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        [
          'an array',
          [
            [1, 1],
            [1, 1],
          ],
          'TypeError',
        ],
        ['int32', made(() => tf.ones([2, 2], 'int32')), 'TypeError'],
        ['a vector', made(() => tf.ones([2])), 'ValueError'],
        ['another batch', made(() => tf.ones([3, 2])), 'ValueError'],
        ['no columns', made(() => tf.ones([2, 0])), 'ValueError'],
        ['disposed', disposedTensor([2, 2]), 'ValueError'],
      ],
      values: [...VALUES, ['the number of rows', [0, 3, 1], 'ValueError', 'ids']],
      rowSplits: SPLITS,
      weights: WEIGHTS,
      combiner: COMBINER,
      outOfRange: OUT_OF_RANGE,
      maxNorm: [...MAX_NORM, ['a norm without the table', 1, 'TypeError', 'table']],
      validate: VALIDATE,
      rows: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['text', '3', 'TypeError'],
        ['a fraction', 2.5, 'ValueError'],
        ['NaN', NaN, 'ValueError'],
        ['Infinity', Infinity, 'ValueError'],
        ['-1', -1, 'ValueError'],
        ['2^31', 2 ** 31, 'ValueError'],
        ['0 while there are ids', 0, 'ValueError', 'ids'],
      ],
    },
    welcome: { validate: ['true'] },
  });

  describeWrongArguments('embeddingBagGrad with a table', {
    right: () => ({ gradient: tf.ones([2, 2]), ...bags(), table: variable(3, 2), maxNorm: 1 }),
    call: callGrad,
    wrong: {
      table: [
        ['arrays', [[1, 2]], 'TypeError'],
        ['another width', made(() => tf.ones([3, 4])), 'ValueError', 'gradient'],
        ['disposed', disposedTensor(), 'ValueError'],
      ],
      rows: [['other than of the table', 4, 'ValueError']],
      gradient: [['another width', made(() => tf.ones([2, 3])), 'ValueError']],
    },
  });

  const SLOTS: Record<string, number> = {
    sgd: 0,
    adagrad: 1,
    rowWiseAdagrad: 1,
    adagradMomentum: 2,
    adam: 2,
    ftrl: 2,
  };
  for (const [name, count] of Object.entries(SLOTS)) {
    const shape = name === 'rowWiseAdagrad' ? [3] : [3, 2];
    const slots: Wrong[] = [
      ['text', 'abc', 'TypeError'],
      ['too many', made(() => Array.from({ length: count + 1 }, () => variable(...shape))), 'ValueError'],
    ];
    if (count > 0) {
      const others = (): tf.Variable[] => Array.from({ length: count - 1 }, () => variable(...shape));
      slots.push(
        ['none', [], 'ValueError'],
        ['undefined', undefined, 'ValueError'],
        ['null in it', made(() => [null, ...others()]), 'TypeError', 'slots[0]'],
        ['a tensor', made(() => [tf.ones(shape), ...others()]), 'TypeError', 'slots[0]'],
        ['another shape', made(() => [variable(2, 2), ...others()]), 'ValueError', 'slots[0]'],
        [
          'int32',
          made(() => [tf.tidy(() => tf.variable(tf.ones(shape, 'int32'))), ...others()]),
          'TypeError',
          'slots[0]',
        ],
      );
    }
    describeWrongArguments(`sparseApply('${name}')`, {
      right: () => ({
        name,
        table: variable(3, 2),
        slots: Array.from({ length: count }, () => variable(...shape)),
        gradient: tf.ones([2, 2]),
        ...bags(),
        learningRate: 0.5,
      }),
      call: ({ name: given, ...args }) => {
        emb.ops.sparseApply(given as never, args as never);
      },
      untouched: ({ table, slots: each }) =>
        [table as tf.Variable, ...(each as tf.Variable[])].map((tensor) => Array.from(tensor.dataSync())),
      wrong: {
        name: [
          ['undefined', undefined, 'TypeError'],
          ['null', null, 'TypeError'],
          ['a number', 1, 'TypeError'],
          ['another word', 'adamax', 'ValueError'],
          ['a name of Object', 'toString', 'ValueError'],
        ],
        table: [
          ['undefined', undefined, 'TypeError'],
          ['null', null, 'TypeError'],
          ['a tensor', made(() => tf.ones([3, 2])), 'TypeError'],
          ['a vector', made(() => variable(6)), 'TypeError'],
        ],
        slots,
        gradient: [
          ['undefined', undefined, 'TypeError'],
          ['null', null, 'TypeError'],
          ['another width', made(() => tf.ones([2, 3])), 'ValueError'],
          ['another batch', made(() => tf.ones([1, 2])), 'ValueError'],
          ['int32', made(() => tf.ones([2, 2], 'int32')), 'TypeError'],
          ['disposed', disposedTensor([2, 2]), 'ValueError'],
        ],
        values: [
          ...VALUES,
          ['the number of rows, last', [0, 1, 3], 'ValueError', 'ids'],
          ['a negative id, last', [0, 1, -1], 'ValueError', 'ids'],
        ],
        rowSplits: SPLITS,
        weights: WEIGHTS,
        combiner: COMBINER,
        outOfRange: OUT_OF_RANGE,
        maxNorm: MAX_NORM,
        validate: VALIDATE,
        step: [
          ['text', '1', 'TypeError'],
          ['0', 0, 'ValueError'],
          ['a fraction', 1.5, 'ValueError'],
          ['NaN', NaN, 'ValueError'],
          ['Infinity', Infinity, 'ValueError'],
        ],
        learningRate: [
          ['null', null, 'TypeError'],
          ['text', '0.1', 'TypeError'],
          ['NaN', NaN, 'ValueError'],
          ['-1', -1, 'ValueError'],
          ['Infinity', Infinity, 'ValueError'],
          ['a function that returns text', () => 'x', 'TypeError'],
          ['a function that returns NaN', () => NaN, 'ValueError'],
        ],
        clipNorm: [['0', 0, 'ValueError']],
      },
      welcome: { validate: ['true'], learningRate: ['a function'] },
    });
  }

  for (const [what, args, name, argument] of [
    ['undefined', undefined, 'TypeError', 'args'],
    ['null', null, 'TypeError', 'args'],
    ['a list', [], 'TypeError', 'args'],
    ['nothing in it', {}, 'TypeError', 'table'],
  ] as [string, unknown, 'TypeError', string][]) {
    it(`sparseApply refuses arguments: ${what}`, () => {
      expect(() => emb.ops.sparseApply('sgd', args as never)).toThrowMatching(
        (error: Error & { argument?: string }) => error.name === name && error.argument === argument,
      );
    });
  }

  it('sparseApply refuses a disposed table, a misspelt argument, and one variable in two roles', () => {
    const table = variable(3, 2);
    const args = { gradient: tf.ones([1, 2]), values: [0], rowSplits: [0, 1], combiner: 'sum' as const };
    const expectRefused = (run: () => void, argument: string): void =>
      expect(run).toThrowMatching(
        (error: Error & { argument?: string }) => error.name === 'ValueError' && error.argument === argument,
      );
    expectRefused(() => emb.ops.sparseApply('adagrad', { ...args, table, slots: [table] } as never), 'slots[0]');
    const slot = variable(3, 2);
    expectRefused(() => emb.ops.sparseApply('adam', { ...args, table, slots: [slot, slot] } as never), 'slots[1]');
    expectRefused(() => emb.ops.sparseApply('sgd', { ...args, table, lr: 1 } as never), 'lr');
    const withSlot = (): unknown => emb.ops.sparseApply('sgd', { ...args, table, slots: [slot] } as never);
    expectError(withSlot, 'ValueError', 'slots', '1 slots');
    expect(withSlot).toThrowMatching(({ expected }: emb.ValueError) => expected === 'no slots');
    for (const [name, expected] of [
      ['adagrad', 'variables: accumulators'],
      ['ftrl', 'variables: accumulators, linears'],
    ] as const) {
      for (const slots of [[], 3, [slot, slot, slot]])
        expect(() => emb.ops.sparseApply(name, { ...args, table, slots } as never)).toThrowMatching(
          (error: emb.ValueError) => error.argument === 'slots' && error.expected === expected,
        );
    }
    slot.dispose();
    expectRefused(() => emb.ops.sparseApply('adagrad', { ...args, table, slots: [slot] } as never), 'slots[0]');
    expect(Array.from(table.dataSync())).toEqual([1, 1, 1, 1, 1, 1]);
    table.dispose();
    expectRefused(() => emb.ops.sparseApply('sgd', { ...args, table } as never), 'table');
    args.gradient.dispose();
  });

  describeWrongArguments('sparse.reorder', {
    right: () => ({
      sparse: {
        indices: [
          [1, 0],
          [0, 1],
        ],
        values: [5, 7],
        denseShape: [2, 2],
      },
    }),
    call: ({ sparse }) => emb.sparse.reorder(sparse as never),
    wrong: {
      sparse: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['a list', [], 'TypeError'],
        ['an empty object', {}, 'TypeError'],
        ['no denseShape', { indices: [[0, 0]], values: [1] }, 'TypeError', 'sparse.denseShape'],
        ['a shape of text', { indices: [[0, 0]], values: [1], denseShape: ['a', 1] }, 'TypeError', 'sparse.denseShape'],
        ['an empty shape', { indices: [], values: [], denseShape: [] }, 'ValueError', 'sparse.denseShape'],
        ['a fraction', { indices: [[0, 0]], values: [1], denseShape: [1.5, 1] }, 'ValueError', 'sparse.denseShape'],
        ['NaN', { indices: [[0, 0]], values: [NaN], denseShape: [1, 1] }, 'ValueError', 'sparse.values'],
        ['text', { indices: [[0, 0]], values: ['a'], denseShape: [1, 1] }, 'TypeError', 'sparse.values'],
        ['outside', { indices: [[0, 1]], values: [1], denseShape: [1, 1] }, 'ValueError', 'sparse.indices'],
        ['fractions', { indices: [[0, 0.5]], values: [1], denseShape: [1, 1] }, 'ValueError', 'sparse.indices'],
        ['too few', { indices: [[0, 0]], values: [1, 2], denseShape: [1, 2] }, 'ValueError', 'sparse.indices'],
      ],
    },
  });
});
