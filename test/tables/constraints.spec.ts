import * as tf from '@tensorflow/tfjs';
import { readConstraint, rowConstraintOf } from '../../src/tables/constraints.js';
import { readRegularizer } from '../../src/tables/regularizers.js';
import { checkSeed, roundingSeed } from '../../src/tables/table_seed.js';
import { expectError } from '../helpers/errors.js';

describe('constraints of tables', () => {
  it('come by name, by config as Keras writes it too, and as objects', () => {
    for (const none of [null, undefined]) expect(readConstraint(none)).toBeNull();
    const names = [
      ['NonNeg', 'nonNeg', 'non_neg', 'NonNegative', 'non_negative'],
      ['MaxNorm', 'maxNorm', 'max_norm'],
      ['UnitNorm', 'unitNorm', 'unit_norm'],
      ['MinMaxNorm', 'minMaxNorm', 'min_max_norm'],
    ];
    for (const [className, ...all] of names) {
      for (const name of [className, ...all]) expect(readConstraint(name)!.getClassName()).toBe(className!);
      expect(() => readConstraint('none')).toThrowError(new RegExp(className!));
    }
    for (const config of [
      { max_value: 3, axis: 1 },
      { maxValue: 3, axis: 1 },
    ]) {
      const read = readConstraint({ class_name: 'MaxNorm', config })!;
      expect(read.getConfig()).toEqual({ maxValue: 3, axis: 1 });
    }
    const both = readConstraint({
      className: 'MinMaxNorm',
      config: { min_value: 2, max_value: 3, rate: 0.5, axis: 0 },
    });
    expect(both!.getConfig()).toEqual({ minValue: 2, maxValue: 3, rate: 0.5, axis: 0 });
    const own = tf.constraints.nonNeg();
    expect(readConstraint(own)).toBe(own);
    expectError(() => readConstraint('none'), 'ValueError', 'embeddingsConstraint', 'none');
    expectError(() => readConstraint(tf.regularizers.l2()), 'ValueError', 'embeddingsConstraint', 'L1L2');
    expectError(() => readConstraint(3), 'TypeError', 'embeddingsConstraint', '3');
  });

  it('are kept by kernels where they are of rows', () => {
    const of = (name: string, config: object = {}): unknown => rowConstraintOf(readConstraint({ className: name, config })); // prettier-ignore
    expect(rowConstraintOf(null)).toBeNull();
    expect(of('NonNeg')).toEqual({ kind: 'nonNeg', min: 0, max: 0, rate: 1 });
    for (const axis of [1, -1, [1], [-1]]) {
      expect(of('MaxNorm', { maxValue: 3, axis })).toEqual({ kind: 'rowNorm', min: 0, max: 3, rate: 1 });
      expect(of('UnitNorm', { axis })).toEqual({ kind: 'rowNorm', min: 1, max: 1, rate: 1 });
      expect(of('MinMaxNorm', { minValue: 2, maxValue: 3, rate: 0.5, axis })).toEqual({ kind: 'rowNorm', min: 2, max: 3, rate: 0.5 }); // prettier-ignore
    }
    for (const axis of [0, [0], [0, 1], [1, 0], undefined]) {
      expect(of('MaxNorm', { maxValue: 3, axis })).toEqual({ kind: 'axis', min: 0, max: 0, rate: 1 });
    }
    const own = { apply: () => null, getClassName: () => 'Own', getConfig: () => ({ axis: 1 }) };
    expect(rowConstraintOf(own as never)).toEqual({ kind: 'axis', min: 0, max: 0, rate: 1 });
  });
});

describe('regularizers of tables', () => {
  it('have the defaults of Keras', () => {
    const [f001] = [0.01].map((value) => value);
    const configOf = (given: unknown): unknown => readRegularizer(given)!.getConfig();
    for (const none of [null, undefined]) expect(readRegularizer(none)).toBeNull();
    expect(configOf('l1')).toEqual({ l1: f001, l2: 0 });
    expect(configOf('L2')).toEqual({ l1: 0, l2: f001 });
    for (const both of ['l1l2', 'l1_l2', 'L1L2']) expect(configOf(both)).toEqual({ l1: f001, l2: f001 });
    expect(configOf({ class_name: 'L1', config: { l1: 0.5 } })).toEqual({ l1: 0.5, l2: 0 });
    expect(configOf({ class_name: 'L2', config: { l2: 0.5 } })).toEqual({ l1: 0, l2: 0.5 });
    expect(configOf({ className: 'L1L2', config: { l1: 0.5, l2: 0.25 } })).toEqual({ l1: 0.5, l2: 0.25 });
    expectError(() => readRegularizer('l3'), 'ValueError', 'embeddingsRegularizer', 'l3');
    expectError(() => readRegularizer('l3', 'own'), 'ValueError', 'own', 'l3');
    expect(() => readRegularizer('l3')).toThrowError(/L1L2, L1, L2/);
  });
});

describe('seeds of tables', () => {
  it('are whole numbers', () => {
    expect([null, undefined, 0, -3, 2 ** 60].map(checkSeed)).toEqual([null, null, 0, -3, 2 ** 60]);
    expectError(() => checkSeed(0.5), 'ValueError', 'seed', '0.5');
    expectError(() => checkSeed('1'), 'TypeError', 'seed', '1');
    expect([5, -5, 0, 2 ** 53, 2 ** 53 + 2, -(2 ** 54)].map(roundingSeed).map((seed) => seed + 0)).toEqual([5, 2 ** 53 - 5, 0, 0, 2, 0]); // prettier-ignore
  });
});
