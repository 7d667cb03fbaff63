import * as emb from 'tfjs-embeddings';
import { NEUTRAL_HYPER } from '../../../src/rules/hyper.js';
import { kernelStep } from '../../../src/tpu/optimizers/kernel_step.js';
import { learningRates } from '../../../src/tpu/optimizers/learning_rates.js';
import { expectError } from '../../helpers/errors.js';

const { tpu } = emb;

describe('kernelStep', () => {
  it('passes every common field on', () => {
    const { optimizer, hyper } = kernelStep(
      new tpu.SGD({
        clipvalue: [-1, 2],
        clipWeightMin: -3,
        clipWeightMax: 4,
        weightDecayFactor: 0.5,
        multiplyWeightDecayFactorByLearningRate: true,
      }),
      0.25,
    );
    expect(optimizer).toBe('sgd');
    const { clipGradientMin, clipGradientMax, clipWeightMin, clipWeightMax, weightDecay, learningRate } = hyper;
    expect([clipGradientMin, clipGradientMax, clipWeightMin, clipWeightMax]).toEqual([-1, 2, -3, 4]);
    expect([weightDecay, learningRate]).toEqual([0.125, 0.25]);
    expect(kernelStep(new tpu.SGD({ weightDecayFactor: 0.5 }), 0.25).hyper.weightDecay).toBe(0.5);
  });

  it('changes nothing else', () => {
    const { clipGradientMin, clipWeightMax, weightDecay, clipNorm } = kernelStep(new tpu.SGD(), 0.1).hyper;
    expect([clipGradientMin, clipWeightMax, weightDecay, clipNorm]).toEqual([
      NEUTRAL_HYPER.clipGradientMin,
      NEUTRAL_HYPER.clipWeightMax,
      0,
      0,
    ]);
  });

  it('passes the fields of each class on', () => {
    expect(kernelStep(new tpu.Adagrad(), 0.1)).toEqual(
      jasmine.objectContaining({ optimizer: 'adagrad', hyper: jasmine.objectContaining({ epsilon: 0 }) }),
    );
    const momentum = new tpu.AdagradMomentum({
      momentum: 0.9,
      useNesterov: true,
      exponent: 3,
      beta2: 0.5,
      epsilon: 0.25,
    });
    expect(kernelStep(momentum, 0.1)).toEqual({
      optimizer: 'adagradMomentum',
      hyper: jasmine.objectContaining({ momentum: 0.9, useNesterov: 1, exponent: 3, beta2: 0.5, epsilon: 0.25 }),
    });
    const adam = new tpu.Adam({ beta1: 0.5, beta2: 0.25, epsilon: 0.125, lazyAdam: false, sumInsideSqrt: false });
    expect(kernelStep(adam, 0.1)).toEqual({
      optimizer: 'adam',
      hyper: jasmine.objectContaining({
        ...{ beta1: 0.5, beta2: 0.25, epsilon: 0.125, lazy: 0, sumInsideSqrt: 0 },
        ...{ correction1: 1, correction2: 1 },
      }),
    });
    const ftrl = new tpu.FTRL({
      learningRatePower: -0.75,
      l1RegularizationStrength: 0.5,
      l2RegularizationStrength: 0.25,
      beta: 0.125,
      multiplyLinearByLearningRate: true,
    });
    const numbers = { learningRatePower: -0.75, l1: 0.5, l2: 0.25, beta: 0.125, multiplyLinearByLearningRate: 1 };
    expect(kernelStep(ftrl, 0.1)).toEqual({ optimizer: 'ftrl', hyper: jasmine.objectContaining(numbers) });
  });

  it('knows no kernel of a custom optimizer', () => {
    const custom = new tpu.CustomOptimizer({ customComputation: ({ parameters }) => ({ parameters }) });
    expectError(() => kernelStep(custom, 0.1), 'RuntimeError', 'optimizer', 'CustomOptimizer');
  });
});

describe('learningRates', () => {
  it('asks a function that several optimizers have once, in the order of the tables', () => {
    const asked: string[] = [];
    const rate = (name: string, value: number) => (): number => {
      asked.push(name);
      return value;
    };
    const [a, b] = [rate('a', 0.5), rate('b', 0.25)];
    const optimizers = [a, 0.125, b, a].map((learningRate) => new tpu.SGD({ learningRate }));
    expect(learningRates(optimizers)).toEqual([0.5, 0.125, 0.25, 0.5]);
    expect(asked).toEqual(['a', 'b']);
  });
});
