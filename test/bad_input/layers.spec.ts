/** Wrong arguments of layers and tables, wrong inputs of layers, and wrong weights. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import {
  describeWrongArguments,
  disposedTensor,
  hostileValues,
  made,
  thrownBy,
  useCpu,
  type Wrong,
} from './wrong_arguments.js';

const SIZE: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['text', '3', 'TypeError'],
  ['a list', [3], 'TypeError'],
  ['0', 0, 'ValueError'],
  ['-1', -1, 'ValueError'],
  ['a fraction', 2.5, 'ValueError'],
  ['NaN', NaN, 'ValueError'],
  ['Infinity', Infinity, 'ValueError'],
  ['2^31', 2 ** 31, 'ValueError'],
];
const OPTIMIZER: readonly Wrong[] = [
  ['text', 'adagrad', 'TypeError'],
  ['an empty object', {}, 'TypeError'],
  ['a stock optimizer', made(() => tf.train.adagrad(0.1)), 'TypeError'],
  ['an unknown class', { className: 'Nobody', config: {} }, 'ValueError'],
  ['the config of a layer', { className: 'Dense', config: { units: 1 } }, 'TypeError'],
  [
    'a config with a wrong field',
    { className: 'TfjsEmbeddings>SGD', config: { learningRate: -1 } },
    'ValueError',
    'learningRate',
  ],
];
const WEIGHTS: readonly Wrong[] = [
  ['text', 'abc', 'TypeError'],
  ['an empty list', [], 'ValueError'],
  ['two tables', made(() => [tf.ones([3, 2]), tf.ones([3, 2])]), 'ValueError'],
  ['a tensor in no list', made(() => tf.ones([3, 2])), 'TypeError'],
  ['a list of null', [null], 'TypeError'],
  ['a list of text', ['abc'], 'TypeError'],
  ['another shape', made(() => [tf.ones([2, 3])]), 'ValueError'],
  ['another rank', made(() => [tf.ones([6])]), 'ValueError'],
  ['int32', made(() => [tf.ones([3, 2], 'int32')]), 'TypeError'],
  ['rows too few', [[[1, 2], [3, 4]]], 'ValueError'], // prettier-ignore
  ['a row too short', [[[1, 2], [3], [5, 6]]], 'ValueError'], // prettier-ignore
  ['text in a row', [[[1, 2], [3, 'a'], [5, 6]]], 'TypeError'], // prettier-ignore
  ['a row that is a number', [[1, 2, 3]], 'TypeError'],
  ['a typed array too short', [new Float32Array(5)], 'ValueError'],
  ['a typed array of bigints', [new BigInt64Array(6)], 'TypeError'],
  ['a data view', [new DataView(new ArrayBuffer(24))], 'TypeError'],
  ['beyond float32', [[[1, 2], [3, 1e39], [5, 6]]], 'ValueError'], // prettier-ignore
];
const DISPOSED: Wrong = ['disposed', made(() => [(disposedTensor([3, 2]))()]), 'ValueError']; // prettier-ignore
const OBJECT: readonly Wrong[] = [
  ['text', 'nobody', 'ValueError'],
  ['an empty name', '', 'ValueError'],
  ['a number', 3, 'TypeError'],
  ['an empty object', {}, 'TypeError'],
  ['a list', ['zeros'], 'TypeError'],
  ['an unknown class', { className: 'Nobody', config: {} }, 'ValueError'],
  ['the class of a layer', { className: 'Dense', config: {} }, 'ValueError'],
  ['a class of text', { className: 3, config: {} }, 'TypeError'],
  ['a name of Object', 'constructor', 'ValueError'],
];
const TABLE: Record<string, readonly Wrong[]> = {
  inputDim: SIZE,
  outputDim: SIZE,
  embeddingsInitializer: [...OBJECT, ['a regularizer', tf.regularizers.l2(), 'ValueError']],
  embeddingsRegularizer: [...OBJECT, ['an initializer', tf.initializers.zeros(), 'ValueError']],
  embeddingsConstraint: [...OBJECT, ['an initializer', tf.initializers.zeros(), 'ValueError']],
  optimizer: OPTIMIZER,
  weights: [...WEIGHTS, DISPOSED],
  seed: [
    ['text', '1', 'TypeError'],
    ['a fraction', 1.5, 'ValueError'],
    ['NaN', NaN, 'ValueError'],
    ['Infinity', Infinity, 'ValueError'],
  ],
  name: [
    ['a number', 3, 'TypeError'],
    ['an empty one', '', 'ValueError'],
    ['with a space', 'a b', 'ValueError'],
    ['with an arrow', 'a>b', 'ValueError'],
  ],
  trainable: [
    ['text', 'no', 'TypeError'],
    ['0', 0, 'TypeError'],
    ['1', 1, 'TypeError'],
  ],
};
const LAYER: Record<string, readonly Wrong[]> = {
  ...TABLE,
  table: [
    ['text', 'movies', 'TypeError'],
    ['an empty object', {}, 'TypeError'],
    ['the class', emb.EmbeddingTable, 'TypeError'],
    ['a tensor', made(() => tf.ones([3, 2])), 'TypeError'],
  ],
  combiner: [
    ['another word', 'most', 'ValueError'],
    ['a number', 1, 'TypeError'],
  ],
  maskZero: [
    ['1', 1, 'TypeError'],
    ['text', 'yes', 'TypeError'],
  ],
  inputLength: [
    ['text', '3', 'TypeError'],
    ['0', 0, 'ValueError'],
    ['-1', -1, 'ValueError'],
    ['a fraction', 1.5, 'ValueError'],
    ['NaN', NaN, 'ValueError'],
    ['a list with text', [2, 'a'], 'TypeError'],
  ],
  maxNorm: [
    ['0', 0, 'ValueError'],
    ['-1', -1, 'ValueError'],
    ['NaN', NaN, 'ValueError'],
    ['text', '1', 'TypeError'],
  ],
  outOfRange: [
    ['another word', 'clip', 'ValueError'],
    ['a number', 1, 'TypeError'],
  ],
  dtype: [
    ['a number', 1, 'TypeError'],
    ['another', 'string', 'TypeError'],
  ],
  inputShape: [
    ['a number', 3, 'TypeError'],
    ['text', 'abc', 'TypeError'],
    ['a list of text', ['a'], 'TypeError'],
    ['a fraction', [1.5], 'ValueError'],
    ['a negative size', [-1], 'ValueError'],
    ['NaN', [NaN], 'ValueError'],
  ],
  batchInputShape: [
    ['a number', 3, 'TypeError'],
    ['a negative size', [null, -1], 'ValueError'],
    ['an empty one', [], 'ValueError'],
  ],
  batchSize: [
    ['text', '3', 'TypeError'],
    ['0', 0, 'ValueError'],
    ['a fraction', 1.5, 'ValueError'],
  ],
  activityRegularizer: [
    ...hostileValues().map(([what, value]): Wrong => [what, value, 'ValueError']),
    ['a name', 'l2', 'ValueError'],
    ['an object', tf.regularizers.l2(), 'ValueError'],
  ],
};
/** One id per sample is no bag. */
const OF_BAGS: Record<string, readonly Wrong[]> = {
  inputLength: [...LAYER['inputLength']!, ['an empty list', [], 'ValueError']],
  inputShape: [...LAYER['inputShape']!, ['no axis', [], 'ValueError']],
};
const FLAGS = {
  trainable: ['true'],
  maskZero: ['true'],
  // Nothing is right here, so that whatever is set is a ValueError.
  activityRegularizer: hostileValues().map(([what]) => what),
};
const OBJECTS: readonly Wrong[] = [
  ['undefined', undefined, 'TypeError'],
  ['null', null, 'TypeError'],
  ['a number', 3, 'TypeError'],
  ['text', 'abc', 'TypeError'],
  ['a list', [3, 2], 'TypeError'],
  ['nothing in it', {}, 'TypeError', 'inputDim'],
  ['a misspelt field', { inputDim: 3, outputDim: 2, combinerr: 'sum' }, 'ValueError', 'combinerr'],
];
const KINDS = { embedding: emb.layers.embedding, raggedEmbedding: emb.layers.raggedEmbedding };

/** A built layer whose table is ones, with a combiner unless told otherwise. */
function built(kind: keyof typeof KINDS, args: object = {}): emb.Embedding | emb.RaggedEmbedding {
  const layer = KINDS[kind]({ inputDim: 3, outputDim: 2, embeddingsInitializer: 'ones', combiner: 'sum', ...args });
  tf.tidy(() => {
    layer.apply(tf.zeros([1, 1], 'int32'));
  });
  return layer;
}

function tableOf(layer: tf.layers.Layer): number[] {
  return Array.from(layer.getWeights()[0]!.dataSync());
}

describe('layers', () => {
  beforeAll(useCpu);

  for (const [kind, make] of Object.entries(KINDS) as [keyof typeof KINDS, typeof emb.layers.embedding][]) {
    describeWrongArguments(`layers.${kind}`, {
      right: () => ({ inputDim: 3, outputDim: 2 }),
      call: (args) => void make(args as never),
      wrong: kind === 'embedding' ? LAYER : { ...LAYER, ...OF_BAGS },
      welcome: FLAGS,
    });

    describeWrongArguments(`layers.${kind}: its arguments`, {
      right: () => ({ args: { inputDim: 3, outputDim: 2 } }),
      call: ({ args }) => void make(args as never),
      wrong: { args: OBJECTS },
      welcome: { args: ['an object without prototype', 'an instance of a class'] },
    });

    it(`layers.${kind} with a table: arguments of the table belong to it`, () => {
      const table = emb.embeddingTable({ inputDim: 3, outputDim: 2 });
      for (const [field, value] of Object.entries({
        inputDim: 4,
        outputDim: 3,
        embeddingsInitializer: 'zeros',
        embeddingsRegularizer: 'l2',
        embeddingsConstraint: 'nonNeg',
        optimizer: emb.train.sgd(),
        weights: [new Float32Array(6)],
        seed: 1,
      })) {
        expect(() => make({ table, [field]: value } as never)).toThrowMatching(
          (error: Error & { argument?: string }) => error.name === 'ValueError' && error.argument === field,
        );
      }
    });

    describe(`of ${kind}`, () => {
      describe('setWeights', () => {
        let layer: tf.layers.Layer;
        let tensors: number;
        beforeEach(() => {
          tensors = tf.memory().numTensors;
          layer = built(kind);
        });
        afterEach(() => {
          layer.dispose();
          expect(tf.memory().numTensors).toBe(tensors);
        });
        for (const [what, given, name] of [
          ['undefined', undefined, 'TypeError'],
          ['null', null, 'TypeError'],
          ...WEIGHTS,
          DISPOSED,
        ] as Wrong[]) {
          it(`refuses ${what} and leaves the table as it is`, () => {
            const value = typeof given === 'function' ? (given as () => unknown)() : given;
            const held = tf.memory().numTensors;
            expect(() => layer.setWeights(value as never)).toThrowMatching(
              (error: Error & { argument?: string }) => error.name === name && error.argument === 'weights',
            );
            expect(tf.memory().numTensors).toBe(held);
            expect(tableOf(layer)).toEqual([1, 1, 1, 1, 1, 1]);
            if (typeof given === 'function') tf.dispose(value as tf.Tensor[]);
          });
        }
        it('refuses a layer that was not built', () => {
          const young = make({ inputDim: 3, outputDim: 2 });
          expect(() => young.setWeights([new Float32Array(6)])).toThrowError(emb.RuntimeError, /setWeights/);
        });
      });
    });
  }

  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
    for (const combiner of ['sum', null] as const) {
      it(`inputs of ${kind}, combiner ${combiner}: whatever they are, an error of ours says so`, () => {
        const layer = built(kind, { combiner });
        const ids = tf.zeros([1, 1], 'int32');
        const others: [string, unknown][] = [['text', 'abc'], ['an empty list', []], ['a list of null', [null]]]; // prettier-ignore
        for (const [what, value] of [...hostileValues(), ...others]) {
          for (const inputs of [value, [ids, value], [value, ids], [ids, ids, ids, value]]) {
            const held = tf.memory().numTensors;
            const error = thrownBy(() => layer.apply(inputs as tf.Tensor)) as
              (Error & { argument?: string }) | undefined;
            const shown = `${what}: ${error?.name}: ${error?.message}`;
            expect(['TypeError', 'ValueError'])
              .withContext(shown)
              .toContain(error?.name ?? 'no error');
            expect(error?.argument)
              .withContext(shown)
              .toMatch(/^(inputs|ids|weights|combiner)/);
            expect(tf.memory().numTensors).withContext(shown).toBe(held);
          }
        }
        ids.dispose();
        layer.dispose();
      });
    }
  }

  describeWrongArguments('embeddingTable', {
    right: () => ({ inputDim: 3, outputDim: 2 }),
    call: (args) => void emb.embeddingTable(args as never),
    wrong: TABLE,
    welcome: FLAGS,
  });

  describeWrongArguments('embeddingTable: its arguments', {
    right: () => ({ args: { inputDim: 3, outputDim: 2 } }),
    call: ({ args }) => void emb.embeddingTable(args as never),
    wrong: { args: OBJECTS },
    welcome: { args: ['an object without prototype', 'an instance of a class'] },
  });

  it('the trainable flag of a table takes true and false only', () => {
    const table = emb.embeddingTable({ inputDim: 3, outputDim: 2 });
    for (const value of [1, 'no', Symbol('s'), {}]) {
      expect(() => (table.trainable = value as never)).toThrowError(TypeError, /trainable/);
    }
    expect(table.trainable).toBeTrue();
  });
});
