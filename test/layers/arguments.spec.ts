import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError, ids, leakFree, useCpu } from './setup.js';

type Kind = 'TypeError' | 'ValueError';

/** One wrong argument beside good ones. */
const WRONG: [string, unknown, Kind][] = [
  ['inputDim', undefined, 'TypeError'],
  ['inputDim', '10', 'TypeError'],
  ['inputDim', 0, 'ValueError'],
  ['inputDim', -3, 'ValueError'],
  ['inputDim', 2.5, 'ValueError'],
  ['inputDim', NaN, 'ValueError'],
  ['inputDim', 2 ** 31, 'ValueError'],
  ['outputDim', undefined, 'TypeError'],
  ['outputDim', null, 'TypeError'],
  ['outputDim', 0, 'ValueError'],
  ['outputDim', Infinity, 'ValueError'],
  ['combiner', 'product', 'ValueError'],
  ['combiner', 3, 'TypeError'],
  ['maskZero', 1, 'TypeError'],
  ['inputLength', 'long', 'TypeError'],
  ['inputLength', 0, 'ValueError'],
  ['inputLength', [2, 1.5], 'ValueError'],
  ['maxNorm', 'one', 'TypeError'],
  ['maxNorm', -1, 'ValueError'],
  ['maxNorm', 0, 'ValueError'],
  ['outOfRange', 'clip', 'ValueError'],
  ['outOfRange', 7, 'TypeError'],
  ['embeddingsInitializer', 'random', 'ValueError'],
  ['embeddingsInitializer', 'nonNeg', 'ValueError'],
  ['embeddingsInitializer', 4, 'TypeError'],
  ['embeddingsInitializer', 'relu', 'ValueError'],
  ['embeddingsInitializer', 'Dense', 'ValueError'],
  ['embeddingsInitializer', 'constant', 'ValueError'],
  ['embeddingsInitializer', { className: 'Dense', config: {} }, 'ValueError'],
  ['embeddingsInitializer', { config: {} }, 'TypeError'],
  ['embeddingsInitializer', { apply: () => null }, 'TypeError'],
  ['embeddingsInitializer', tf.regularizers.l2(), 'ValueError'],
  ['embeddingsInitializer', tf.layers.dense({ units: 1 }), 'ValueError'],
  ['embeddingsRegularizer', 'l3', 'ValueError'],
  ['embeddingsRegularizer', 0.1, 'TypeError'],
  ['embeddingsRegularizer', tf.constraints.nonNeg(), 'ValueError'],
  ['embeddingsConstraint', 'maxnorm2', 'ValueError'],
  ['embeddingsConstraint', true, 'TypeError'],
  ['embeddingsConstraint', tf.initializers.zeros(), 'ValueError'],
  ['activityRegularizer', 'l2', 'ValueError'],
  ['activityRegularizer', tf.regularizers.l2(), 'ValueError'],
  ['optimizer', 'adagrad', 'TypeError'],
  ['optimizer', {}, 'TypeError'],
  ['optimizer', { className: 'Adagrads', config: {} }, 'ValueError'],
  ['weights', new Float32Array(40), 'TypeError'],
  ['weights', [], 'ValueError'],
  ['weights', [[[1, 2]]], 'ValueError'],
  ['weights', [new Float32Array(39)], 'ValueError'],
  ['weights', [7], 'TypeError'],
  ['name', 12, 'TypeError'],
  ['name', 'two words', 'ValueError'],
  ['name', '', 'ValueError'],
  ['trainable', 'no', 'TypeError'],
  ['dtype', 'float64', 'TypeError'],
  ['dtype', 32, 'TypeError'],
  ['inputShape', 5, 'TypeError'],
  ['inputShape', [-1], 'ValueError'],
  ['batchInputShape', [], 'ValueError'],
  ['batchInputShape', [null, 'x'], 'TypeError'],
  ['batchSize', 0, 'ValueError'],
  ['seed', '1', 'TypeError'],
  ['table', 'movies', 'TypeError'],
  ['table', {}, 'TypeError'],
];

describe('arguments of layers', () => {
  beforeAll(useCpu);

  it('raggedEmbedding: inputs have an axis beside that of the batch', () => {
    for (const argument of ['inputShape', 'inputLength']) {
      const args = { inputDim: 10, outputDim: 4, [argument]: [] };
      expectError(() => emb.layers.raggedEmbedding(args), 'ValueError', argument);
    }
  });

  for (const [factory, make] of Object.entries({
    embedding: emb.layers.embedding,
    raggedEmbedding: emb.layers.raggedEmbedding,
  })) {
    for (const [argument, value, kind] of WRONG) {
      const shown = value instanceof tf.layers.Layer ? 'a layer' : String(JSON.stringify(value));
      it(`${factory}: ${argument} = ${shown.slice(0, 40)}`, () => {
        const args = { inputDim: 10, outputDim: 4, [argument]: value };
        expectError(() => make(args as emb.EmbeddingArgs), kind, argument);
      });
    }

    for (const [argument, value] of [
      ['inputShape', []],
      ['batchInputShape', [null]],
      ['inputLength', []],
    ] as const) {
      it(`${factory}: ${argument} without an axis beside that of the batch, with a combiner`, () => {
        const args = { inputDim: 10, outputDim: 4, combiner: 'sum', [argument]: value } as const;
        expectError(() => make(args as never), 'ValueError', argument);
      });
    }

    it(`${factory}: no arguments`, () => {
      for (const args of [undefined, null, 5, [1]]) {
        expectError(() => make(args as unknown as emb.EmbeddingArgs), 'TypeError', 'args');
      }
    });
  }

  it(
    'inputs of embedding',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 10, outputDim: 4, combiner: 'sum' });
      const plain = emb.layers.embedding({ inputDim: 10, outputDim: 4 });
      const tensors = {
        good: ids([[1, 2]]),
        text: tf.tensor2d([['a', 'b']]),
        wide: tf.ones([1, 3]),
        narrow: tf.ones([1, 2]),
        whole: tf.ones([1, 2], 'int32'),
        none: tf.tensor2d([[1, NaN]]),
        vector: tf.tensor1d([1], 'int32'),
      };
      const { good, text, wide, narrow, whole, none, vector } = tensors;
      expectError(() => layer.apply(undefined as never), 'TypeError', 'inputs');
      expectError(() => layer.apply(null as never), 'TypeError', 'inputs');
      expectError(() => layer.apply('ids' as never), 'TypeError', 'ids');
      expectError(() => layer.apply({} as never), 'TypeError', 'ids');
      expectError(() => layer.apply(text), 'TypeError', 'ids');
      expectError(() => layer.apply(vector), 'ValueError', 'ids', /rank 1/);
      expectError(() => layer.apply([good, wide]), 'ValueError', 'weights');
      expectError(() => layer.apply([good, whole]), 'TypeError', 'weights');
      expectError(() => layer.apply([good, none]), 'ValueError', 'weights', /NaN/);
      expectError(() => layer.apply([good, [[1, 2]]]), 'TypeError', 'weights');
      expectError(() => layer.apply([good, narrow, narrow]), 'ValueError', 'inputs');
      expectError(() => plain.apply([good, narrow]), 'ValueError', 'combiner');
      const symbolic = tf.input({ shape: [2], dtype: 'int32' });
      const perId = tf.input({ shape: [3] });
      expectError(() => layer.apply([symbolic, perId]), 'ValueError', 'weights');
      expectError(() => plain.apply([symbolic, perId]), 'ValueError', 'combiner');
      expectError(() => layer.apply([symbolic, narrow] as never), 'TypeError', 'inputs');
      expectError(() => layer.apply(tf.input({ shape: [], dtype: 'int32' })), 'ValueError', 'ids');
      const fixed = emb.layers.embedding({ inputDim: 10, outputDim: 4, inputLength: 3 });
      expectError(() => fixed.apply(good), 'ValueError', 'ids', /1, 2/);
      expectError(() => fixed.computeOutputShape([null, 2]), 'ValueError', 'ids');
      tf.dispose(tensors);
      [layer, plain, fixed].filter((each) => each.built).forEach((each) => each.dispose());
    }),
  );

  it('of dtypes may speak of the ids, or of how Keras would compute; null is as if not given', () => {
    const good = ['float32', 'int32', 'mixed_float16', 'mixed_bfloat16', 'mixedFloat16', 'mixedBfloat16'];
    for (const dtype of [...good, null, undefined]) {
      expect(() => emb.layers.embedding({ inputDim: 3, outputDim: 2, dtype } as never)).not.toThrow();
    }
    for (const args of [
      { inputDType: 'int32' },
      { inputDType: 'float32' },
      { inputShape: null },
      { batchSize: null },
    ]) {
      expect(() => emb.layers.embedding({ inputDim: 3, outputDim: 2, ...args } as never))
        .withContext(JSON.stringify(args))
        .not.toThrow();
    }
    for (const dtype of ['float64', 'string', '']) {
      const make = (): unknown => emb.layers.embedding({ inputDim: 3, outputDim: 2, dtype } as never);
      expectError(make, 'TypeError', 'dtype', dtype);
    }
  });

  it('default names count as in Keras', () => {
    const [a, b] = [1, 2].map(() => emb.layers.embedding({ inputDim: 1, outputDim: 1 }).name);
    const [first, second] = [a, b].map((name) => /^embedding_(\d+)$/.exec(name!)?.[1]).map(Number);
    expect(second).toBe(first! + 1);
    expect(emb.layers.raggedEmbedding({ inputDim: 1, outputDim: 1 }).name).toMatch(/^ragged_embedding_\d+$/);
  });

  it('of the input give its shape, with the batch size where there is one', () => {
    const embedding = (args: object): unknown =>
      emb.layers.embedding({ inputDim: 4, outputDim: 2, ...args } as never).getConfig()['batchInputShape'];
    const others = [
      (args: object) => emb.layers.integerLookup({ maxTokens: 3, ...args }).getConfig()['batchInputShape'],
      (args: object) => emb.layers.dotInteraction(args).getConfig()['batchInputShape'],
      (args: object) => emb.layers.featureCross(args).getConfig()['batchInputShape'],
    ];
    for (const shapeOf of [embedding, ...others]) {
      expect(shapeOf({ inputShape: [3], batchSize: 7 })).toEqual([7, 3]);
      expect(shapeOf({ inputShape: [null, 3] })).toEqual([null, null, 3]);
      expect(shapeOf({ batchInputShape: [5, 3], inputShape: [4], batchSize: 7 })).toEqual([5, 3]);
    }
    expect(embedding({ inputLength: 4, batchSize: 7 })).toEqual([7, 4]);
    expect(embedding({ inputLength: [4, 6] })).toEqual([null, 4, 6]);
    expect(embedding({})).toEqual([null, null]);
  });
});
