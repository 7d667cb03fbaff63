/** Hyper-parameters: defaults, and errors where TensorFlow's TPU optimizers have them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { fieldsOf, hyperOf, readSettings } from '../../src/rules/optimizer_settings.js';
import { OPTIMIZER_NAMES } from '../../src/rules/rules.js';

const COMMON = {
  learningRate: 0.25,
  clipValue: [-0.5, null],
  clipNorm: 2,
  globalClipNorm: 3,
  clipWeightMin: -4,
  clipWeightMax: 5,
  weightDecay: 0.5,
  multiplyWeightDecayByLearningRate: true,
};

/** Every field of every optimizer, each away from its default. */
const OTHERS: Readonly<Record<emb.OptimizerName, Readonly<Record<string, unknown>>>> = {
  sgd: { ...COMMON, momentum: 0.75, nesterov: true, lazy: false },
  adagrad: { ...COMMON, initialAccumulatorValue: 0.5, epsilon: 0.125 },
  rowWiseAdagrad: { ...COMMON, initialAccumulatorValue: 0.5, epsilon: 0.125 },
  adagradMomentum: {
    ...COMMON,
    initialAccumulatorValue: 0.5,
    momentum: 0.75,
    useNesterov: true,
    exponent: 3,
    beta2: 0.5,
    epsilon: 0.125,
    lazy: false,
  },
  adam: {
    ...COMMON,
    beta1: 0.5,
    beta2: 0.75,
    epsilon: 0.125,
    biasCorrection: false,
    amsgrad: true,
    sumInsideSqrt: true,
    lazy: false,
  },
  adamW: {
    ...COMMON,
    multiplyWeightDecayByLearningRate: false,
    beta1: 0.5,
    beta2: 0.75,
    epsilon: 0.125,
    amsgrad: true,
    lazy: false,
  },
  rmsprop: { ...COMMON, rho: 0.5, momentum: 0.75, epsilon: 0.125, centered: true, lazy: false },
  ftrl: {
    ...COMMON,
    initialAccumulatorValue: 0.5,
    learningRatePower: -0.75,
    l1: 0.5,
    l2: 0.25,
    beta: 0.125,
    multiplyLinearByLearningRate: true,
  },
};

function fromConfig(optimizer: emb.SparseOptimizer, config: unknown): emb.SparseOptimizer {
  const cls = optimizer.constructor as unknown as {
    fromConfig(cls: unknown, config: unknown): emb.SparseOptimizer;
  };
  return cls.fromConfig(cls, config);
}

function sparseApplyWith(fields: object): void {
  emb.ops.sparseApply('sgd', fields as never);
}

/** The names that Keras would use. */
function camelToSnake(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [snake(name), value]));
}

describe('hyper-parameters', () => {
  const cases: [string, () => unknown, unknown, string][] = [
    [
      'adagrad: initialAccumulatorValue 0',
      () => emb.train.adagrad({ initialAccumulatorValue: 0 }),
      emb.ValueError,
      'initialAccumulatorValue',
    ],
    ['adagradMomentum: epsilon 0', () => emb.train.adagradMomentum({ epsilon: 0 }), emb.ValueError, 'epsilon'],
    ['adagradMomentum: exponent 0', () => emb.train.adagradMomentum({ exponent: 0 }), emb.ValueError, 'exponent'],
    [
      'ftrl: initialAccumulatorValue 0',
      () => emb.train.ftrl({ initialAccumulatorValue: 0 }),
      emb.ValueError,
      'initialAccumulatorValue',
    ],
    ['adam: beta1 1', () => emb.train.adam({ beta1: 1 }), emb.ValueError, 'beta1'],
    ['adam: beta2 -1', () => emb.train.adam({ beta2: -1 }), emb.ValueError, 'beta2'],
    ['adam: epsilon 0', () => emb.train.adam({ epsilon: 0 }), emb.ValueError, 'epsilon'],
    ['NaN learningRate', () => emb.train.sgd({ learningRate: NaN }), emb.ValueError, 'learningRate'],
    ['text as momentum', () => emb.train.adagradMomentum({ momentum: 'a' as never }), TypeError, 'momentum'],
    ['1 for true', () => emb.train.adam({ lazy: 1 as never }), TypeError, 'lazy'],
    ['clipValue upside down', () => emb.train.sgd({ clipValue: [1, -1] }), emb.ValueError, 'clipValue'],
    ['clipValue of text', () => emb.train.sgd({ clipValue: 'x' as never }), TypeError, 'clipValue'],
    ['clipNorm 0', () => emb.train.sgd({ clipNorm: 0 }), emb.ValueError, 'clipNorm'],
    ['globalClipNorm 0', () => emb.train.sgd({ globalClipNorm: 0 }), emb.ValueError, 'globalClipNorm'],
    ['globalClipNorm of one table', () => sparseApplyWith({ globalClipNorm: 1 }), emb.ValueError, 'globalClipNorm'],
    [
      'clipWeightMin above clipWeightMax',
      () => emb.train.sgd({ clipWeightMin: 1, clipWeightMax: 0 }),
      emb.ValueError,
      'clipWeightMin',
    ],
    [
      'a positive learningRatePower',
      () => emb.train.ftrl({ learningRatePower: 1 }),
      emb.ValueError,
      'learningRatePower',
    ],
    ['a misspelt name', () => emb.train.sgd({ lerningRate: 1 } as never), emb.ValueError, 'lerningRate'],
    ['a dense optimizer that is none', () => emb.train.sgd({ dense: {} as never }), TypeError, 'dense'],
    ['a config that is no object', () => emb.train.sgd(3 as never), TypeError, 'config'],
  ];
  for (const [what, run, type, argument] of cases) {
    it(`refuse ${what}`, () => {
      expect(run).toThrowMatching(
        (error: { argument?: string }) => error instanceof (type as new () => Error) && error.argument === argument,
      );
    });
  }

  it('survive getConfig and fromConfig for every optimizer, each at another value than its default', () => {
    for (const name of OPTIMIZER_NAMES) {
      const [optimizer, plain] = [emb.train[name](OTHERS[name] as never), emb.train[name]()];
      const config = JSON.parse(JSON.stringify(optimizer.getConfig())) as Record<string, unknown>;
      const defaults = plain.getConfig();
      for (const field of fieldsOf(name)) {
        expect(config[field]).withContext(`${name}, ${field}`).toEqual(OTHERS[name][field]);
        expect(config[field]).withContext(`${name}, ${field}`).not.toEqual(defaults[field]);
      }
      for (const given of [config, camelToSnake(config)]) {
        const again = fromConfig(optimizer, given);
        expect(again.getConfig()).toEqual(optimizer.getConfig());
        expect(again.settings).toEqual(optimizer.settings);
        expect(again.getClassName()).toBe(optimizer.getClassName());
      }
    }
  });

  it('survive with the dense optimizer that was given', () => {
    const tensors = tf.memory().numTensors;
    const dense = tf.train.adam(0.25, 0.5, 0.75, 0.125);
    const optimizer = emb.train.adagrad({ dense });
    const again = fromConfig(optimizer, JSON.parse(JSON.stringify(optimizer.getConfig())));
    expect(again.getConfig()).toEqual(optimizer.getConfig());
    expect(again.getConfig()['dense']).toEqual({ className: 'Adam', config: dense.getConfig() });
    const other = emb.train.adagrad();
    expect('dense' in other.getConfig()).toBeFalse();
    const config = { dense: { className: 'Nobody', config: {} } };
    expect(() => fromConfig(other, config)).toThrowError(emb.ValueError, /dense\.className.*Nobody/);
    for (const each of [optimizer, other, again, dense]) each.dispose();
    expect(tf.memory().numTensors).toBe(tensors);
  });

  it('of a saved config are refused where they are not known', () => {
    const optimizer = emb.train.adam();
    expect(() => fromConfig(optimizer, { global_clipnorm: 1 })).toThrowError(emb.ValueError, /globalClipNorm/);
    expect(() => fromConfig(optimizer, { l1: 1 })).toThrowError(emb.ValueError, /emb\.train\.ftrl/);
    expect(fromConfig(optimizer, { name: 'adam', customObjects: {}, beta_1: 0.5 }).settings.beta1).toBe(0.5);
  });

  it('take null for what is off by default, and for epsilon, and for nothing else', () => {
    for (const name of OPTIMIZER_NAMES) {
      const defaults = readSettings(name, {});
      for (const field of fieldsOf(name)) {
        const mayBe = field === 'epsilon' || (field !== 'learningRate' && defaults[field] === null);
        const read = (): unknown => readSettings(name, { [field]: null });
        if (mayBe) expect(read()).withContext(`${name}.${field}`).toEqual(defaults);
        else expect(read).withContext(`${name}.${field}`).toThrowError(TypeError, new RegExp(field));
      }
    }
  });

  it('follow a learning rate that is a function of the step', () => {
    const rate = (step: number): number => 1 / (1 + step);
    const settings = readSettings('sgd', { learningRate: rate });
    expect([1, 2, 4].map((step) => hyperOf('sgd', settings, step, null).learningRate)).toEqual([1, 0.5, 0.25]);
    expect(() => hyperOf('sgd', readSettings('sgd', { learningRate: () => NaN }), 1, null)).toThrowError(
      emb.ValueError,
    );
  });

  it('have no field that no optimizer reads', () => {
    const read = new Set(OPTIMIZER_NAMES.flatMap((name) => fieldsOf(name)));
    expect([...read].sort()).toEqual(Object.keys(readSettings('sgd', {})).sort() as never);
  });
});
