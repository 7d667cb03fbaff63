/** Optimizers of tables that are given by name, and as configs of Keras. */
import * as emb from 'tfjs-embeddings';
import { readNamedOptimizer } from '../../src/tables/named_optimizer.js';
import { expectError } from '../layers/setup.js';

const FTRL = {
  learning_rate: 0.5,
  learning_rate_power: -0.75,
  initial_accumulator_value: 0.25,
  l1_regularization_strength: 0.125,
  l2_regularization_strength: 0.0625,
  beta: 2,
};

describe('optimizers of tables', () => {
  it('pass on every field of Ftrl of Keras', () => {
    for (const className of ['Ftrl', 'keras>Ftrl']) {
      const read = readNamedOptimizer({ class_name: className, config: FTRL })!;
      const own = emb.train.ftrl({
        learningRate: 0.5,
        learningRatePower: -0.75,
        initialAccumulatorValue: 0.25,
        l1: 0.125,
        l2: 0.0625,
        beta: 2,
      });
      expect(read.settings).toEqual(own.settings);
      read.dispose();
      own.dispose();
    }
  });

  it('are read by each name, in either spelling', () => {
    for (const [name, texts] of Object.entries({
      sgd: ['sgd', 'SGD'],
      adagrad: ['adagrad', 'Adagrad'],
      rowWiseAdagrad: ['rowWiseAdagrad', 'row_wise_adagrad'],
      adagradMomentum: ['adagradMomentum', 'adagrad_momentum'],
      adam: ['adam'],
      ftrl: ['ftrl', 'FTRL'],
    } as const)) {
      const own = emb.train[name as 'sgd']();
      for (const text of texts) {
        const read = readNamedOptimizer(text)!;
        expect([read.getClassName(), read.settings]).toEqual([own.getClassName(), own.settings]);
        read.dispose();
      }
      own.dispose();
    }
    for (const text of ['lion', '', 'sgd2']) {
      expectError(() => readNamedOptimizer(text), 'ValueError', 'optimizer', JSON.stringify(text));
      expect(() => readNamedOptimizer(text)).toThrowError(/one of sgd, adagrad, rowWiseAdagrad, .*, or null/);
    }
  });

  it('are none, those of emb.train, and what those are saved as', () => {
    for (const nothing of [undefined, null]) expect(readNamedOptimizer(nothing)).toBeNull();
    const own = emb.train.adam({ learningRate: 0.5, beta1: 0.75 });
    expect(readNamedOptimizer(own)).toBe(own);
    const saved = { className: own.getClassName(), config: own.getConfig() };
    const read = readNamedOptimizer(saved)!;
    expect(read.settings).toEqual(own.settings);
    read.dispose();
    own.dispose();
    for (const wrong of [3, {}, [], () => 1, { config: {} }])
      expectError(() => readNamedOptimizer(wrong), 'TypeError', 'optimizer');
  });

  it('pass on what Keras has in common, and leave out what is off or has no effect', () => {
    const config = {
      ...{ name: 'mine', learning_rate: 0.5, weight_decay: 0.25, clipvalue: 2, clipnorm: null, use_ema: false },
      ...{ ema_momentum: 0.99, gradient_accumulation_steps: 1, is_legacy_optimizer: true, jit_compile: true },
      ...{ ema_overwrite_frequency: 7, momentum: 0, global_clipnorm: undefined },
    };
    const read = readNamedOptimizer({ className: 'SGD', config })!;
    const own = emb.train.sgd({ learningRate: 0.5, weightDecay: 0.25, clipValue: 2 });
    expect(read.settings).toEqual(own.settings);
    read.dispose();
    own.dispose();
    for (const [key, value] of Object.entries({
      ...{ clipnorm: 1, global_clipnorm: 1, use_ema: true, ema_momentum: 0.5 },
      ...{ gradient_accumulation_steps: 2, loss_scale_factor: 8, toString: 1 },
    })) {
      const camel = key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      const refused = (): unknown => readNamedOptimizer({ className: 'SGD', config: { [key]: value } });
      expectError(refused, 'ValueError', `optimizer.${camel}`, `${camel} of ${String(value)}`);
      expect(refused).toThrowError(/learningRate, weightDecay, clipvalue, momentum, nesterov of SGD/);
    }
  });

  it('refuse a class name that is no text, and a config that is no object', () => {
    expectError(() => readNamedOptimizer({ className: 5, config: {} }), 'TypeError', 'optimizer');
    expectError(() => readNamedOptimizer({ className: 'Ftrl', config: 5 }), 'ValueError', 'optimizer');
    expectError(() => readNamedOptimizer({ className: 'Lion', config: {} }), 'ValueError', 'optimizer', 'Lion');
  });
});
