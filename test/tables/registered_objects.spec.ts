/** Initializers, regularizers and constraints by name, by config and as objects. */
import * as tf from '@tensorflow/tfjs';
import { readConstraint, rowConstraintOf } from '../../src/tables/constraints.js';
import { INITIALIZER_CLASSES, readInitializer, readInitializerOf } from '../../src/tables/initializers.js';
import { serializeRegistered, type Registered } from '../../src/tables/registered_objects.js';
import { readRegularizer } from '../../src/tables/regularizers.js';
import { expectError } from '../helpers/errors.js';

type Read = (identifier: unknown) => Registered | null;

const FAMILIES: Record<string, { read: Read; classes: readonly string[]; own: object; foreign: object }> = {
  embeddingsInitializer: {
    read: (each) => readInitializer(each),
    classes: INITIALIZER_CLASSES.filter((name) => !/^(Constant|Identity)$/.test(name)),
    own: tf.initializers.ones(),
    foreign: tf.regularizers.l2(),
  },
  embeddingsRegularizer: {
    read: readRegularizer,
    classes: ['L1L2', 'L1', 'L2'],
    own: tf.regularizers.l1(),
    foreign: tf.constraints.nonNeg(),
  },
  embeddingsConstraint: {
    read: readConstraint,
    classes: ['NonNeg', 'MaxNorm', 'UnitNorm', 'MinMaxNorm'],
    own: tf.constraints.unitNorm({}),
    foreign: tf.initializers.zeros(),
  },
};

/** The class and config of what was read. */
const shown = (object: Registered | null): unknown => object && [object.getClassName(), object.getConfig()];

for (const [argument, { read, classes, own, foreign }] of Object.entries(FAMILIES)) {
  describe(argument, () => {
    it('is read by the name of its class, in either spelling, and from its config', () => {
      for (const name of classes) {
        // tfjs makes several kinds by one class.
        const className =
          argument === 'embeddingsRegularizer' ? 'L1L2' : name.replace(/^(Glorot|He|LeCun)\w+$/, 'VarianceScaling');
        const snake = name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
        for (const each of [name, snake, name.toLowerCase(), name.charAt(0).toLowerCase() + name.slice(1)])
          expect(read(each)!.getClassName()).withContext(each).toBe(className);
        for (const config of [{ className: name, config: {} }, { class_name: name, config: null }, { className: name }])
          expect(read(config)!.getClassName()).withContext(name).toBe(className);
      }
    });

    it('is read from what it is saved as', () => {
      const saved = serializeRegistered(own as Registered)!;
      expect(shown(read(saved))).toEqual([saved.className, saved.config]);
      expect(read(own)).toBe(own as Registered);
      expect(serializeRegistered(null)).toBeNull();
    });

    it('is an object of its own kind, which can be saved', () => {
      const apply = (): null => null;
      const getClassName = (): string => 'Own';
      const getConfig = (): object => ({});
      const mine = { apply, getClassName, getConfig };
      expect(read(mine) as unknown).toBe(mine);
      for (const part of [{ apply }, { apply, getClassName }, { apply, getConfig }])
        expectError(() => read(part), 'TypeError', argument);
      expectError(() => read(foreign), 'ValueError', argument, (foreign as Registered).getClassName());
    });

    it('is no other thing', () => {
      for (const each of [3, true, () => 1, {}, { className: 3 }, { config: {} }, { apply: 1 }])
        expectError(() => read(each), 'TypeError', argument);
      const others = ['', 'Dense', 'relu', 'toString', 'nothing', foreign];
      for (const each of others) expectError(() => read(each), 'ValueError', argument);
      const { className } = serializeRegistered(foreign as Registered)!;
      expectError(() => read({ className, config: {} }), 'ValueError', argument, className);
      try {
        read('nothing');
      } catch (error) {
        for (const name of classes) expect((error as Error).message).toContain(name);
      }
    });
  });
}

describe('Configs that Keras writes', () => {
  it('of initializers: generators for seeds, words in snake case', () => {
    const config = { scale: 2, mode: 'fan_in', distribution: 'uniform', seed: { state: [1] } };
    expect(readInitializer({ class_name: 'VarianceScaling', config }).getConfig()).toEqual({
      scale: 2,
      mode: 'fanIn',
      distribution: 'uniform',
      seed: undefined,
    } as never);
    const seeded = { scale: 1, mode: 'fanAvg', distribution: 'truncated_normal', seed: 4 };
    expect(readInitializer({ className: 'varianceScaling', config: seeded }).getConfig()).toEqual({
      ...seeded,
      distribution: 'truncatedNormal',
    });
    expect(readInitializer({ className: 'RandomNormal', config: { seed: null } }).getConfig()['seed']).toBeNull();
  });

  it('of regularizers: L1 and L2, with the parts that Keras gives them', () => {
    const read = (className: string, config: object): unknown => {
      const regularizer = readRegularizer({ className, config })!;
      return regularizer.getConfig();
    };
    expect(read('L1', { l1: 0.5 })).toEqual({ l1: 0.5, l2: 0 });
    expect(read('L1', {})).toEqual({ l1: 0.01, l2: 0 });
    expect(read('L1', { l1: 0 })).toEqual({ l1: 0, l2: 0 });
    expect(read('L2', { l2: 0.25 })).toEqual({ l1: 0, l2: 0.25 });
    expect(read('L2', {})).toEqual({ l1: 0, l2: 0.01 });
    expect(read('L1L2', { l1: 0.5, l2: 0.25 })).toEqual({ l1: 0.5, l2: 0.25 });
  });

  it('of constraints: their numbers in snake case', () => {
    const config = { min_value: 0.5, max_value: 2, rate: 0.25, axis: 1 };
    const read = readConstraint({ class_name: 'MinMaxNorm', config })!;
    expect(read.getConfig()).toEqual({ minValue: 0.5, maxValue: 2, rate: 0.25, axis: 1 });
    expect(readConstraint({ className: 'MaxNorm', config: { axis: 0 } })!.getConfig()['axis']).toBe(0);
    expect(readConstraint('non_negative')!.getClassName()).toBe('NonNeg');
  });

  it('say what a class does not accept', () => {
    const config = { scale: -1, mode: 'fanIn', distribution: 'normal' };
    expectError(
      () => readInitializer({ className: 'VarianceScaling', config }),
      'ValueError',
      'embeddingsInitializer',
      'VarianceScaling',
    );
  });
});

describe('What is not given', () => {
  it('is no regularizer and no constraint, and the default initializer, with the seed', () => {
    for (const nothing of [undefined, null]) {
      expect(readRegularizer(nothing)).toBeNull();
      expect(readConstraint(nothing)).toBeNull();
      expect(readInitializer(nothing).getClassName()).toBe('RandomUniform');
      expect(readInitializer(nothing, 7).getConfig()['seed']).toBe(7);
      expect(readInitializerOf('initializer', nothing, 'zeros').getClassName()).toBe('Zeros');
    }
    expect(readInitializer('randomNormal', 7).getConfig()['seed']).toBe(7);
    expect(readInitializer('randomNormal').getConfig()['seed']).toBeUndefined();
    expectError(() => readInitializerOf('initializer', 3, 'zeros'), 'TypeError', 'initializer', '3');
    expectError(() => readRegularizer('l3', 'regularizer'), 'ValueError', 'regularizer', '"l3"');
  });
});

describe('rowConstraintOf', () => {
  const { maxNorm, minMaxNorm, nonNeg, unitNorm } = tf.constraints;
  const off = { kind: 'axis', min: 0, max: 0, rate: 1 };

  it('says what a constraint does to rows', () => {
    expect(rowConstraintOf(null)).toBeNull();
    expect(rowConstraintOf(nonNeg())).toEqual({ kind: 'nonNeg', min: 0, max: 0, rate: 1 });
    for (const axis of [1, -1, [1], [-1]] as number[]) {
      expect(rowConstraintOf(maxNorm({ maxValue: 3, axis }))).toEqual({ kind: 'rowNorm', min: 0, max: 3, rate: 1 });
      expect(rowConstraintOf(unitNorm({ axis }))).toEqual({ kind: 'rowNorm', min: 1, max: 1, rate: 1 });
      expect(rowConstraintOf(minMaxNorm({ minValue: 0.5, maxValue: 2, rate: 0.25, axis }))).toEqual({
        kind: 'rowNorm',
        min: 0.5,
        max: 2,
        rate: 0.25,
      });
    }
  });

  it('knows those along other axes, and others, as such', () => {
    for (const axis of [0, [0, 1], [1, 1], []] as number[]) {
      for (const each of [maxNorm({ maxValue: 3, axis }), unitNorm({ axis }), minMaxNorm({ axis } as never)])
        expect(rowConstraintOf(each)).toEqual(off as never);
    }
    const own = { getClassName: () => 'Own', getConfig: () => ({ axis: 1 }), apply: () => null };
    expect(rowConstraintOf(own as never)).toEqual(off as never);
  });
});
