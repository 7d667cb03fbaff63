/** Wrong hyper-parameters of `emb.train.*`, and of `setLearningRate`. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeWrongArguments, useCpu, type Wrong } from './wrong_arguments.js';

/** Wrong for every hyper-parameter that is a number. */
const NO_NUMBER: readonly Wrong[] = [
  ['text', '0.1', 'TypeError'],
  ['a list', [0.1], 'TypeError'],
  ['NaN', NaN, 'ValueError'],
  ['Infinity', Infinity, 'ValueError'],
  ['-Infinity', -Infinity, 'ValueError'],
  ['beyond float32', 1e39, 'ValueError'],
];
const NEGATIVE: Wrong = ['-1', -1, 'ValueError'];
const ZERO: Wrong = ['0', 0, 'ValueError'];
/** Kernels take float32, where this is 0. */
const TINY: Wrong = ['0 in float32', 1e-60, 'ValueError'];
const ONE: Wrong = ['1', 1, 'ValueError'];
/** In float32 this is 1. */
const ALMOST_ONE: Wrong = ['1 in float32', 1 - 1e-12, 'ValueError'];
const TWO: Wrong = ['2', 2, 'ValueError'];
const NULL: Wrong = ['null', null, 'TypeError'];

const BOOLEAN: readonly Wrong[] = [['1', 1, 'TypeError'], ['0', 0, 'TypeError'], ['text', 'true', 'TypeError'], NULL];

const COMMON: Record<string, readonly Wrong[]> = {
  learningRate: [...NO_NUMBER, NEGATIVE, NULL],
  clipValue: [
    ['text', '1', 'TypeError'],
    ['NaN', NaN, 'ValueError'],
    NEGATIVE,
    ['one bound', [1], 'ValueError'],
    ['three bounds', [0, 1, 2], 'ValueError'],
    ['bounds the other way round', [1, -1], 'ValueError'],
    ['a bound of text', ['a', 1], 'TypeError'],
    ['a missing bound', [undefined, 1], 'TypeError'],
    ['a NaN bound', [NaN, 1], 'ValueError'],
  ],
  clipNorm: [...NO_NUMBER, NEGATIVE, ZERO, TINY],
  globalClipNorm: [...NO_NUMBER, NEGATIVE, ZERO, TINY],
  clipWeightMin: NO_NUMBER,
  clipWeightMax: NO_NUMBER,
  weightDecay: [...NO_NUMBER, NEGATIVE],
  multiplyWeightDecayByLearningRate: BOOLEAN,
  dense: [
    ['text', 'adam', 'TypeError'],
    ['an empty object', {}, 'TypeError'],
    ['a list', [], 'TypeError'],
    ['a class', tf.AdamOptimizer, 'TypeError'],
  ],
};

const OWN: Record<string, Record<string, readonly Wrong[]>> = {
  sgd: { momentum: [...NO_NUMBER, NEGATIVE, TWO, NULL], nesterov: BOOLEAN, lazy: BOOLEAN },
  adagrad: {
    initialAccumulatorValue: [...NO_NUMBER, NEGATIVE, ZERO, TINY, NULL],
    epsilon: [...NO_NUMBER, NEGATIVE],
  },
  rowWiseAdagrad: {
    initialAccumulatorValue: [...NO_NUMBER, NEGATIVE, ZERO, TINY, NULL],
    epsilon: [...NO_NUMBER, NEGATIVE],
  },
  adagradMomentum: {
    initialAccumulatorValue: [...NO_NUMBER, NEGATIVE, NULL],
    momentum: [...NO_NUMBER, NEGATIVE, NULL],
    useNesterov: BOOLEAN,
    exponent: [...NO_NUMBER, NEGATIVE, ZERO, TINY, NULL],
    beta2: [...NO_NUMBER, NEGATIVE, TWO, NULL],
    epsilon: [...NO_NUMBER, NEGATIVE, ZERO, TINY],
    lazy: BOOLEAN,
  },
  adam: {
    beta1: [...NO_NUMBER, NEGATIVE, ONE, ALMOST_ONE, TWO, NULL],
    beta2: [...NO_NUMBER, NEGATIVE, ONE, ALMOST_ONE, TWO, NULL],
    epsilon: [...NO_NUMBER, NEGATIVE, ZERO, TINY],
    biasCorrection: BOOLEAN,
    amsgrad: BOOLEAN,
    sumInsideSqrt: BOOLEAN,
    lazy: BOOLEAN,
  },
  adamW: {
    beta1: [...NO_NUMBER, NEGATIVE, ONE, ALMOST_ONE, TWO, NULL],
    beta2: [...NO_NUMBER, NEGATIVE, ONE, ALMOST_ONE, TWO, NULL],
    epsilon: [...NO_NUMBER, NEGATIVE, ZERO, TINY],
    // Without decay it would be another optimizer.
    weightDecay: [...NO_NUMBER, NEGATIVE, NULL],
    amsgrad: BOOLEAN,
    lazy: BOOLEAN,
  },
  rmsprop: {
    rho: [...NO_NUMBER, NEGATIVE, ONE, ALMOST_ONE, TWO, NULL],
    momentum: [...NO_NUMBER, NEGATIVE, TWO, NULL],
    epsilon: [...NO_NUMBER, NEGATIVE, ZERO, TINY],
    centered: BOOLEAN,
    lazy: BOOLEAN,
  },
  ftrl: {
    initialAccumulatorValue: [...NO_NUMBER, NEGATIVE, ZERO, TINY, NULL],
    learningRatePower: [...NO_NUMBER, ONE, NULL],
    l1: [...NO_NUMBER, NEGATIVE, NULL],
    l2: [...NO_NUMBER, NEGATIVE, NULL],
    beta: [...NO_NUMBER, NEGATIVE, NULL],
    multiplyLinearByLearningRate: BOOLEAN,
  },
};

const NAMES = Object.keys(OWN) as emb.OptimizerName[];

describe('optimizers', () => {
  beforeAll(useCpu);

  for (const name of NAMES) {
    const wrong = { ...COMMON, ...OWN[name] };
    const booleans = Object.keys(wrong).filter((field) => wrong[field] === BOOLEAN);
    describeWrongArguments(`train.${name}`, {
      right: () => ({ learningRate: 0.5 }),
      call: (config) => {
        emb.train[name](config).dispose();
      },
      wrong,
      welcome: {
        learningRate: ['a function'],
        ...Object.fromEntries(booleans.map((field) => [field, ['true']])),
      },
    });

    describeWrongArguments(`train.${name}: its config`, {
      right: () => ({ config: {} }),
      call: ({ config }) => {
        emb.train[name](config as never).dispose();
      },
      wrong: {
        config: [
          ['null', null, 'TypeError'],
          ['a number', 0.1, 'TypeError'],
          ['text', 'adam', 'TypeError'],
          ['a list', [0.1], 'TypeError'],
          ['a misspelt field', { learningrate: 0.1 }, 'ValueError', 'learningrate'],
          ['a field of nobody', { wings: 2 }, 'ValueError', 'wings'],
        ],
      },
      welcome: { config: ['an object without prototype', 'an instance of a class'] },
    });

    describeWrongArguments(`setLearningRate of train.${name}`, {
      right: () => ({ learningRate: 0.25 }),
      call: ({ learningRate }) => {
        const optimizer = emb.train[name]({ learningRate: 0.5 });
        try {
          optimizer.setLearningRate(learningRate as never);
        } catch (error) {
          if (optimizer.learningRate !== 0.5) throw new Error('half done');
          throw error;
        }
      },
      wrong: { learningRate: [['undefined', undefined, 'TypeError'], ...COMMON['learningRate']!] },
      welcome: { learningRate: ['a function'] },
    });
  }

  for (const [what, rate, name] of [
    ['text', () => 'fast', 'TypeError'],
    ['nothing', () => undefined, 'TypeError'],
    ['NaN', () => NaN, 'ValueError'],
    ['a negative number', () => -1, 'ValueError'],
  ] as [string, () => never, string][]) {
    it(`a learning rate that becomes ${what} stops the step before anything is written`, () => {
      const table = tf.tidy(() => tf.variable(tf.ones([3, 2])));
      const kernel = tf.tidy(() => tf.variable(tf.ones([2, 1])));
      let calls = 0;
      const optimizer = emb.train.adagrad({ learningRate: () => (calls++ < 4 ? 0.1 : rate()) });
      const step = (): void => {
        const loss = (): tf.Scalar =>
          emb.ops
            .embeddingBag(table, [0], [0, 1], { combiner: 'sum' })
            .matMul(kernel as never)
            .mean();
        optimizer.minimize(loss);
      };
      const tensors = (): number => tf.memory().numTensors;
      let thrown: (Error & { argument?: string }) | undefined;
      let before: number[][] = [];
      let held = 0;
      for (let i = 0; i < 8 && thrown === undefined; i++) {
        before = [table, kernel].map((each) => Array.from(each.dataSync()));
        held = tensors();
        try {
          step();
        } catch (error) {
          thrown = error as Error;
        }
      }
      expect(thrown?.name).toBe(name);
      expect(thrown?.argument).toBe('learningRate');
      expect([table, kernel].map((each) => Array.from(each.dataSync()))).toEqual(before);
      expect(tensors()).toBe(held);
      optimizer.dispose();
      tf.dispose([table, kernel]);
    });
  }
});
