/** Wrong arguments and inputs of the layers beside the embeddings. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import {
  describeWrongArguments,
  disposedTensor,
  hostileValues,
  made,
  useCpu,
  type Arguments,
  type Wrong,
} from './wrong_arguments.js';

const SIZE: readonly Wrong[] = [
  ['text', '3', 'TypeError'],
  ['a list', [3], 'TypeError'],
  ['0', 0, 'ValueError'],
  ['a fraction', 2.5, 'ValueError'],
  ['NaN', NaN, 'ValueError'],
  ['2^31', 2 ** 31, 'ValueError'],
];
const NEEDED: readonly Wrong[] = [['undefined', undefined, 'TypeError'], ['null', null, 'TypeError'], ...SIZE];
const FLAG: readonly Wrong[] = [
  ['1', 1, 'TypeError'],
  ['text', 'true', 'TypeError'],
];
const NAMED: readonly Wrong[] = [
  ['an unknown name', 'nobody', 'ValueError'],
  ['a number', 3, 'TypeError'],
  ['a stock layer', 'Dense', 'ValueError'],
];
const COMMON = {
  name: [['two words', 'two words', 'ValueError']],
  trainable: FLAG.slice(0, 1),
  inputShape: [
    ['a number', 3, 'TypeError'],
    ['no axis', [], 'ValueError'],
  ],
  batchInputShape: [
    ['a negative size', [null, -1], 'ValueError'],
    ['no axis', [], 'ValueError'],
    ['the batch axis alone', [null], 'ValueError'],
  ],
} as const satisfies Record<string, readonly Wrong[]>;
const TRUE = ['true'];
const PROXIES = ['a proxy whose getters throw', 'a revoked proxy'];

/** Makes a layer and frees it; where inputs are given, applies it to them. */
function useOnce(make: () => tf.layers.Layer, args: Arguments): unknown {
  if (!('inputs' in args) && !('ids' in args)) return make();
  const layer = make();
  try {
    return layer.apply((args['inputs'] ?? args['ids']) as tf.Tensor);
  } finally {
    if (layer.built) layer.dispose();
  }
}

const whole = made(() => tf.ones([2, 3], 'int32'));
const text = made(() => tf.fill([2, 3], 'a'));
const disposed = disposedTensor([2, 3]);

describe('layers beside the embeddings', () => {
  beforeAll(useCpu);

  describeWrongArguments('dotInteraction', {
    right: () => ({ selfInteraction: true, skipGather: false }),
    call: (args) => emb.layers.dotInteraction(args),
    wrong: { selfInteraction: FLAG, skipGather: FLAG, ...COMMON },
    welcome: { selfInteraction: TRUE, skipGather: TRUE, trainable: TRUE },
  });

  describeWrongArguments('the inputs of dotInteraction', {
    right: () => ({ inputs: [tf.ones([2, 3]), tf.ones([2, 3])] }),
    call: (args) => useOnce(() => emb.layers.dotInteraction(), args),
    wrong: {
      inputs: [
        ['an empty list', [], 'ValueError'],
        ['whole numbers', whole, 'TypeError'],
        ['text', text, 'TypeError'],
        ['disposed', disposed, 'ValueError'],
        ['one tensor', made(() => tf.ones([2, 3])), 'ValueError'],
        ['a list with nothing', made(() => [tf.ones([2, 3]), null]), 'TypeError', 'inputs[1]'],
        ['two shapes', made(() => [tf.ones([2, 3]), tf.ones([3, 3])]), 'ValueError', 'inputs[1]'],
        ['a vector', made(() => [tf.ones([2]), tf.ones([2])]), 'ValueError', 'inputs[0]'],
      ],
    },
  });

  describeWrongArguments('featureCross', {
    right: () => ({ projectionDim: 2 }),
    call: (args) => emb.layers.featureCross(args),
    wrong: {
      projectionDim: SIZE,
      diagScale: [
        ['-1', -1, 'ValueError'],
        ['Infinity', Infinity, 'ValueError'],
        ['text', '1', 'TypeError'],
      ],
      useBias: FLAG,
      preActivation: NAMED,
      kernelInitializer: NAMED,
      biasInitializer: NAMED,
      kernelRegularizer: NAMED,
      biasRegularizer: NAMED,
      ...COMMON,
    },
    welcome: { useBias: TRUE, trainable: TRUE },
  });

  describeWrongArguments('the inputs of featureCross', {
    right: () => ({ inputs: [tf.ones([2, 3]), tf.ones([2, 3])] }),
    call: (args) => useOnce(() => emb.layers.featureCross(), args),
    wrong: {
      inputs: [
        ['an empty list', [], 'ValueError'],
        ['whole numbers', whole, 'TypeError'],
        ['text', text, 'TypeError'],
        ['disposed', disposed, 'ValueError'],
        ['a vector', made(() => tf.ones([2])), 'ValueError'],
        ['no columns', made(() => tf.ones([2, 0])), 'ValueError'],
        ['a list with nothing', made(() => [tf.ones([2, 3]), undefined]), 'TypeError', 'inputs[1]'],
        ['two shapes', made(() => [tf.ones([2, 3]), tf.ones([2, 3, 1])]), 'ValueError', 'inputs[1]'],
      ],
    },
  });

  describeWrongArguments('integerLookup', {
    right: () => ({ maxTokens: 3 }),
    call: (args) => emb.layers.integerLookup(args as never),
    wrong: {
      maxTokens: NEEDED,
      ...COMMON,
      // One number a sample is right.
      inputShape: COMMON.inputShape.slice(0, 1),
      batchInputShape: COMMON.batchInputShape.slice(0, 2),
    },
    welcome: { trainable: TRUE },
  });

  describeWrongArguments('the inputs of integerLookup', {
    right: () => ({ inputs: [[3, 4], [5]] }),
    call: (args) => useOnce(() => emb.layers.integerLookup({ maxTokens: 3 }), args),
    wrong: {
      inputs: [
        ['text', text, 'TypeError'],
        ['disposed', disposed, 'ValueError'],
        ['a truth value', made(() => tf.ones([2], 'bool')), 'TypeError'],
        ['a fraction', made(() => tf.tensor1d([0.5])), 'ValueError'],
        ['mixed depths', [1, [2]], 'ValueError'],
      ],
    },
    welcome: { inputs: ['a bigint'] },
  });

  describeWrongArguments('concatOneHotEmbedding', {
    right: () => ({ featureSizes: [2, 1], embeddingWidth: 2 }),
    call: (args) => emb.layers.concatOneHotEmbedding(args as never),
    wrong: {
      featureSizes: [
        ['undefined', undefined, 'TypeError'],
        ['a number', 3, 'TypeError'],
        ['an empty list', [], 'ValueError'],
        ['a size of 0', [2, 0], 'ValueError', 'featureSizes[1]'],
        ['text in it', [2, '1'], 'TypeError', 'featureSizes[1]'],
        ['a hole', [2, undefined], 'TypeError', 'featureSizes[1]'],
        ['too many rows', [2 ** 31 - 1, 1], 'ValueError'],
      ],
      embeddingWidth: NEEDED,
      embeddingsInitializer: NAMED,
      embeddingsRegularizer: NAMED,
      embeddingsConstraint: NAMED,
      optimizer: [['text', 'sgd', 'TypeError']],
      weights: [['another shape', [[[1, 2]]], 'ValueError']],
      seed: [['text', '1', 'TypeError']],
      ...COMMON,
    },
    welcome: { trainable: TRUE },
  });

  describeWrongArguments('the ids of concatOneHotEmbedding', {
    right: () => ({ ids: [[1, 0]] }),
    call: (args) => useOnce(() => emb.layers.concatOneHotEmbedding({ featureSizes: [2, 1], embeddingWidth: 2 }), args),
    wrong: {
      ids: [
        ['text', text, 'ValueError'],
        ['texts', made(() => tf.fill([2, 2], 'a')), 'TypeError'],
        ['disposed', disposedTensor([2, 2], 'int32'), 'ValueError'],
        ['three features', whole, 'ValueError'],
        ['a fraction', made(() => tf.tensor2d([[0.5, 0]])), 'ValueError'],
        ['a row of the next feature', [[2, 0]], 'ValueError'],
        ['a negative id', [[0, -1]], 'ValueError'],
        ['uneven rows', [[0, 0], [0]], 'TypeError'],
        ['one number', 3, 'ValueError'],
        ...hostileValues()
          .filter(([what]) => PROXIES.includes(what))
          .map(([what, value]) => [what, value, 'TypeError', 'inputs'] as const),
      ],
    },
    // They fail before it is known whether weights come with the ids.
    welcome: { ids: PROXIES },
  });
});
