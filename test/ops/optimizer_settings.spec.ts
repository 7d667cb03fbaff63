/** Hyper-parameters: defaults, and errors where TensorFlow's TPU optimizers have them. */
import * as emb from 'tfjs-embeddings/node';
import { fieldsOf, hyperOf, readSettings } from '../../src/ops/optimizer_settings.js';
import { OPTIMIZER_NAMES } from '../../src/types.js';

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

  it('survive getConfig and fromConfig for every optimizer', () => {
    for (const name of OPTIMIZER_NAMES) {
      const optimizer = emb.train[name]({ learningRate: 0.25, clipNorm: 2, weightDecay: 0.5 });
      const config = JSON.parse(JSON.stringify(optimizer.getConfig())) as never;
      const cls = optimizer.constructor as unknown as {
        fromConfig(cls: unknown, config: unknown): emb.SparseOptimizer;
      };
      const again = cls.fromConfig(cls, config);
      expect(again.getConfig()).toEqual(optimizer.getConfig());
      expect(again.getClassName()).toBe(optimizer.getClassName());
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
