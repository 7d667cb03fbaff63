import type * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';

const { tpu } = emb;

const COMMON = {
  learningRate: 0.5,
  useGradientAccumulation: true,
  clipWeightMin: -2,
  clipWeightMax: 3,
  weightDecayFactor: 0.1,
  multiplyWeightDecayFactorByLearningRate: true,
  clipvalue: [-1, null],
  lowDimensionalPackingStatus: true,
} as const;
const COMMON_DEFAULTS = {
  useGradientAccumulation: true,
  clipWeightMin: null,
  clipWeightMax: null,
  weightDecayFactor: null,
  multiplyWeightDecayFactorByLearningRate: null,
  clipvalue: null,
  lowDimensionalPackingStatus: false,
};
const WITH_SLOTS = { slotVariableCreationFn: null };

/** Name, defaults, other values for the fields of its own, and slots. */
const CLASSES: [name: string, defaults: object, others: object, slots: string[]][] = [
  ['SGD', { learningRate: 0.01 }, {}, []],
  [
    'Adagrad',
    { learningRate: 0.001, initialAccumulatorValue: 0.1, ...WITH_SLOTS },
    { initialAccumulatorValue: 0.25 },
    ['accumulators'],
  ],
  [
    'AdagradMomentum',
    { learningRate: 0.001, momentum: 0, useNesterov: false, exponent: 2, beta2: 1, epsilon: 1e-10, ...WITH_SLOTS },
    { momentum: 0.9, useNesterov: true, exponent: 3, beta2: 0.5, epsilon: 1e-3 },
    ['accumulators', 'momenta'],
  ],
  [
    'Adam',
    {
      learningRate: 0.001,
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-7,
      lazyAdam: true,
      sumInsideSqrt: true,
      ...WITH_SLOTS,
    },
    { beta1: 0.5, beta2: 0.75, epsilon: 1e-3, lazyAdam: false, sumInsideSqrt: false },
    ['momenta', 'velocities'],
  ],
  [
    'FTRL',
    {
      learningRate: 0.001,
      learningRatePower: -0.5,
      l1RegularizationStrength: 0,
      l2RegularizationStrength: 0,
      beta: 0,
      initialAccumulatorValue: 0.1,
      multiplyLinearByLearningRate: false,
      allowZeroAccumulator: false,
      ...WITH_SLOTS,
    },
    {
      learningRatePower: -0.75,
      l1RegularizationStrength: 0.5,
      l2RegularizationStrength: 0.25,
      beta: 0.125,
      initialAccumulatorValue: 0.5,
      multiplyLinearByLearningRate: true,
      allowZeroAccumulator: true,
    },
    ['accumulators', 'linears'],
  ],
];

interface AnyClass {
  new (args?: object): emb.tpu.TPUEmbeddingOptimizer;
  fromConfig(config: object): emb.tpu.TPUEmbeddingOptimizer;
}

function classOf(name: string): AnyClass {
  return (tpu as unknown as Record<string, AnyClass>)[name]!;
}

function snakeCase(record: object): object {
  const python = (key: string): string =>
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/beta(\d)/, 'beta_$1');
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [python(key), value as unknown]));
}

for (const [name, defaults, others, slots] of CLASSES) {
  const Optimizer = classOf(name);
  const all = { ...COMMON, ...others };
  const own = Object.keys(others);

  describe(`tpu.${name}`, () => {
    it('has the defaults of TensorFlow', () => {
      const optimizer = new Optimizer();
      expect(optimizer.getConfig()).toEqual({ ...COMMON_DEFAULTS, ...defaults });
      for (const [field, value] of Object.entries({ ...COMMON_DEFAULTS, ...defaults })) {
        const held = (optimizer as unknown as Record<string, unknown>)[field];
        expect(held).withContext(field).toEqual(value);
      }
      expect(optimizer.slotNames).toEqual(slots);
    });

    it('takes null for what is not given, and names each field of another type', () => {
      const all = { ...COMMON_DEFAULTS, ...defaults };
      for (const field of Object.keys(all)) {
        for (const none of [null, undefined]) expect(new Optimizer({ [field]: none }).getConfig()).toEqual(all);
        const error = field === 'slotVariableCreationFn' ? 'ValueError' : 'TypeError';
        expectError(() => new Optimizer({ [field]: 'text' }), error, field, 'text');
        const isNumber = typeof (all as Record<string, unknown>)[field] === 'number' || /^clipW|Factor$/.test(field);
        if (isNumber) expectError(() => new Optimizer({ [field]: Infinity }), 'ValueError', field, 'Infinity');
        if (isNumber) expectError(() => new Optimizer({ [field]: 1e39 }), 'ValueError', field);
      }
    });

    it('comes back from its config, in camelCase and in snake_case', () => {
      const optimizer = new Optimizer(all);
      expect(optimizer.getConfig()).toEqual(jasmine.objectContaining(all));
      const plain = JSON.parse(JSON.stringify(optimizer.getConfig())) as object;
      expect(Optimizer.fromConfig(plain).equals(optimizer)).toBeTrue();
      expect(Optimizer.fromConfig(snakeCase(all)).equals(optimizer)).toBeTrue();
    });

    it('is equal where its class and all its fields are', () => {
      const optimizer = new Optimizer();
      expect(optimizer.equals(new Optimizer())).toBeTrue();
      expect(optimizer.equals(null)).toBeFalse();
      for (const field of [...Object.keys(COMMON), ...own]) {
        if (field === 'useGradientAccumulation') continue;
        const other = new Optimizer({ [field]: (all as Record<string, unknown>)[field] });
        expect(optimizer.equals(other)).withContext(field).toBeFalse();
      }
      for (const [other] of CLASSES) {
        if (other !== name) expect(optimizer.equals(new (classOf(other))())).toBeFalse();
      }
    });

    it('shows its fields', () => {
      expect(String(new Optimizer({ learningRate: 0.5 }))).toMatch(new RegExp(`^${name}\\(learningRate=0.5, `));
    });

    it('clips gradients to [-c, c] or as it is told, and never without accumulation', () => {
      const clip = (clipvalue: unknown): unknown => (new Optimizer({ clipvalue }) as emb.tpu.SGD).clipvalue;
      expect(clip(2)).toEqual([-2, 2]);
      expect(clip([null, 2])).toEqual([null, 2]);
      expect(clip([null, null])).toBeNull();
      expect(clip(null)).toBeNull();
      expectError(() => clip([2, 1]), 'ValueError', 'clipvalue');
      expectError(() => clip([1]), 'ValueError', 'clipvalue');
      expectError(() => clip([1, 2, 3]), 'ValueError', 'clipvalue');
      expectError(() => clip(['1', 2]), 'TypeError', 'clipvalue[0]', '1');
      expectError(() => clip([1, NaN]), 'ValueError', 'clipvalue[1]', 'NaN');
      expectError(() => clip(-1), 'ValueError', 'clipvalue', '-1');
      expect([clip(0), clip([1, 1]), clip([-1, null])]).toEqual([[-0, 0], [1, 1], [-1, null]]); // prettier-ignore
      expectError(() => clip('1'), 'TypeError', 'clipvalue');
      expectError(() => clip(NaN), 'ValueError', 'clipvalue');
      const bare = { useGradientAccumulation: false, clipvalue: 1 };
      expectError(() => new Optimizer(bare), 'ValueError', 'clipvalue', '1');
    });

    it('takes functions as learning rate, and asks them', () => {
      let rate: unknown = 0.5;
      const learningRate = (): number => rate as number;
      const optimizer = new Optimizer({ learningRate });
      expect(optimizer.currentLearningRate()).toBe(0.5);
      rate = 0.25;
      expect(optimizer.currentLearningRate()).toBe(0.25);
      rate = NaN;
      expectError(() => optimizer.currentLearningRate(), 'ValueError', 'learningRate');
      rate = '1';
      expectError(() => optimizer.currentLearningRate(), 'TypeError', 'learningRate');
      expect(optimizer.equals(new Optimizer({ learningRate }))).toBeTrue();
      expect(optimizer.equals(new Optimizer({ learningRate: () => 0.5 }))).toBeFalse();
      expect(Optimizer.fromConfig(optimizer.getConfig()).equals(optimizer)).toBeTrue();
    });

    it('refuses common arguments out of range', () => {
      expectError(() => new Optimizer({ learningRate: -1 }), 'ValueError', 'learningRate');
      expectError(() => new Optimizer({ learningRate: '1' }), 'TypeError', 'learningRate');
      expectError(() => new Optimizer({ weightDecayFactor: -1 }), 'ValueError', 'weightDecayFactor');
      expectError(() => new Optimizer({ clipWeightMin: 2, clipWeightMax: 1 }), 'ValueError', 'clipWeightMin');
      expectError(() => new Optimizer({ useGradientAccumulation: 1 }), 'TypeError', 'useGradientAccumulation');
      expectError(() => new Optimizer({ learning_rate: 1 }), 'ValueError', 'learning_rate');
    });

    if (slots.length === 0) return;

    it('refuses a slot creation function that is none', () => {
      expectError(() => new Optimizer({ slotVariableCreationFn: 3 }), 'ValueError', 'slotVariableCreationFn', '3');
      const create = (): Record<string, tf.Variable> => ({});
      expect(new Optimizer({ slotVariableCreationFn: create }).slotVariableCreationFn).toBe(create);
    });
  });
}

describe('TPU optimizers', () => {
  const wrong: [what: string, make: () => unknown, argument: string, received: string][] = [
    [
      'Adagrad from an accumulator of 0',
      () => new tpu.Adagrad({ initialAccumulatorValue: 0 }),
      'initialAccumulatorValue',
      '0',
    ],
    [
      'FTRL from an accumulator of 0',
      () => new tpu.FTRL({ initialAccumulatorValue: 0 }),
      'initialAccumulatorValue',
      '0',
    ],
    ['AdagradMomentum with epsilon 0', () => new tpu.AdagradMomentum({ epsilon: 0 }), 'epsilon', '0'],
    ['AdagradMomentum with exponent 0', () => new tpu.AdagradMomentum({ exponent: 0 }), 'exponent', '0'],
    ['AdagradMomentum with beta2 above 1', () => new tpu.AdagradMomentum({ beta2: 1.5 }), 'beta2', '1.5'],
    ['Adam with beta1 of 1', () => new tpu.Adam({ beta1: 1 }), 'beta1', '1'],
    ['Adam with beta2 below 0', () => new tpu.Adam({ beta2: -1 }), 'beta2', '-1'],
    ['Adam with epsilon 0', () => new tpu.Adam({ epsilon: 0 }), 'epsilon', '0'],
    ['FTRL with a positive power', () => new tpu.FTRL({ learningRatePower: 0.5 }), 'learningRatePower', '0.5'],
    [
      'Adam that is neither lazy nor accumulates',
      () => new tpu.Adam({ lazyAdam: false, useGradientAccumulation: false }),
      'lazyAdam',
      'false',
    ],
  ];
  for (const [what, make, argument, received] of wrong) {
    it(`refuse ${what}`, () => expectError(make, 'ValueError', argument, received));
  }
});

describe('tpu.CustomOptimizer', () => {
  const customComputation: emb.tpu.CustomComputation = ({ parameters }) => ({ parameters });

  it('has the defaults of TensorFlow', () => {
    const optimizer = new tpu.CustomOptimizer({ customComputation });
    expect(optimizer.getConfig()).toEqual({
      customComputation,
      learningRate: 0.01,
      slotNames: [],
      slotInitializers: [],
      hyperparameters: [],
      slotDims: [],
    });
  });

  it('compares by value, functions by identity, and comes back from its config', () => {
    const args = {
      customComputation,
      slotNames: ['velocity'],
      slotInitializers: [0.5],
      hyperparameters: { decay: 0.5 },
      slotDims: [1],
    };
    const optimizer = new tpu.CustomOptimizer(args);
    expect(optimizer.equals(new tpu.CustomOptimizer(args))).toBeTrue();
    expect(optimizer.equals(new tpu.CustomOptimizer({ ...args, slotDims: [2] }))).toBeFalse();
    expect(optimizer.equals(new tpu.CustomOptimizer({ ...args, hyperparameters: { decay: 1 } }))).toBeFalse();
    const other: emb.tpu.CustomComputation = ({ parameters }) => ({ parameters });
    expect(optimizer.equals(new tpu.CustomOptimizer({ ...args, customComputation: other }))).toBeFalse();
    expect(tpu.CustomOptimizer.fromConfig(optimizer.getConfig()).equals(optimizer)).toBeTrue();
  });

  it('refuses lists that do not match', () => {
    const make = (args: object) => () => new tpu.CustomOptimizer({ customComputation, ...args });
    expectError(make({ slotNames: ['a'], slotInitializers: [] }), 'ValueError', 'slotInitializers', '0');
    expectError(make({ slotNames: ['a'], slotInitializers: [0], slotDims: [] }), 'ValueError', 'slotDims', '0');
    expectError(make({ slotNames: ['a'], slotInitializers: [0], slotDims: [3] }), 'ValueError', 'slotDims[0]', '3');
    expectError(make({ slotNames: ['a', 'a'], slotInitializers: [0, 0] }), 'ValueError', 'slotNames[1]');
    expectError(make({ slotNames: ['/'], slotInitializers: [0] }), 'ValueError', 'slotNames[0]');
    expectError(make({ customComputation: 3 }), 'TypeError', 'customComputation');
    expectError(make({ hyperparameters: 3 }), 'TypeError', 'hyperparameters');
    expectError(make({ hyperparameters: { rate: '1' } }), 'TypeError', 'hyperparameters["rate"]');
  });
});
