/** Every argument of the lookups, of the ops and of TensorArray, right and odd. */
import * as tf from '@tensorflow/tfjs';
import { embeddingLookup, safeEmbeddingLookup, ops, RaggedTensor, TensorArray } from '../../src/index.js';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';

type Args = Record<string, unknown>;

const rows = (): tf.Tensor2D => tf.tensor2d([0, 1, 2, 3, 4, 5, 6, 7], [4, 2]);
const int32 = (...values: number[]): tf.Tensor1D => tf.tensor1d(values, 'int32');
const pooling = (): Args => ({ combiner: 'mean', outOfRange: 'error', maxNorm: 2, validate: true });

/** A function of some arguments by position and an object of others. */
function called(run: (...given: never[]) => unknown, places: readonly string[], args: () => Args): Call {
  return {
    args,
    run: (given: Args) => {
      const options = Object.fromEntries(Object.entries(given).filter(([name]) => !places.includes(name)));
      return run(...([...places.map((name) => given[name]), options] as never[]));
    },
  };
}

const ragged = (): RaggedTensor => RaggedTensor.fromRows([[1, 3], [], [2]]);
const weights = (): RaggedTensor => RaggedTensor.fromRows([[0.5, 1], [], [2]]);
const bags = ['table', 'values', 'rowSplits'] as const;
const ofBags = (): Args => ({
  table: rows(),
  values: int32(1, 3, 2),
  rowSplits: int32(0, 2, 2, 3),
  weights: tf.tensor1d([0.5, 1, 2]),
  ...pooling(),
});

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  embeddingLookup: called(embeddingLookup as never, ['params', 'ids'], () => ({
    params: rows(),
    ids: ragged(),
    ...pooling(),
    weights: weights(),
    partitionStrategy: 'mod',
  })),
  'embeddingLookup of shards': called(embeddingLookup as never, ['params', 'ids'], () => ({
    params: [rows(), rows()],
    ids: [1, 5],
    partitionStrategy: 'div',
  })),
  safeEmbeddingLookup: called(safeEmbeddingLookup as never, ['params', 'ids'], () => ({
    params: rows(),
    ids: ragged(),
    combiner: 'mean',
    maxNorm: 2,
    weights: weights(),
    partitionStrategy: 'mod',
    defaultId: 1,
  })),
  'ops.embeddingBag': called(ops.embeddingBag as never, bags, ofBags),
  'ops.embeddingBagGrad': called(ops.embeddingBagGrad as never, ['gradient', ...bags.slice(1)], () => {
    return { ...ofBags(), gradient: tf.ones([3, 2]), rows: 4 };
  }),
  'ops.sparseApply': {
    args: () => ({ gradient: tf.ones([3, 2]), values: [1, 3, 2], rowSplits: [0, 2, 2, 3], weights: [0.5, 1, 2], ...pooling(), learningRate: 0.5, step: 2 }), // prettier-ignore
    run: (args) => {
      const table = tf.variable(rows());
      ops.sparseApply('sgd', { ...(args as object), table } as never);
      return table;
    },
  },
  TensorArray: {
    args: () => ({
      size: 2,
      dtype: 'float32',
      elementShape: [2],
      dynamicSize: true,
      clearAfterRead: false,
      identicalElementShapes: true,
      multipleWritesAggregate: false,
      name: 'array',
    }),
    run: (args) => {
      const array = new TensorArray(args);
      array.write(0, tf.tensor1d([1, 2]));
      array.write(1, tf.tensor1d([3, 4]));
      return { dtype: array.dtype, all: array.stack() };
    },
  },
  'TensorArray.write': called(
    ((index: number, value: tf.Tensor) => {
      const array = new TensorArray({ size: 2 });
      array.write(index, value);
      return array.read(index);
    }) as never,
    ['index', 'value'],
    () => ({ index: 1, value: tf.scalar(2) }),
  ),
  'TensorArray.scatter, split': called(
    ((indices: number[], value: tf.Tensor, lengths: number[]) => {
      const array = new TensorArray({ size: 4 });
      array.scatter(indices, value);
      const other = new TensorArray({ size: 2 });
      other.split(value, lengths);
      return { gathered: array.gather(indices), all: other.concat() };
    }) as never,
    ['indices', 'value', 'lengths'],
    () => ({ indices: [2, 0, 1], value: tf.tensor1d([1, 2, 3]), lengths: [1, 2] }),
  ),
});
