/** Checks of arguments that layers share, by themselves; layers/arguments.spec.ts has them in layers. */
import * as tf from '@tensorflow/tfjs';
import {
  LAYER_OPTIONS,
  checkBoolean,
  checkDimension,
  checkDtype,
  checkInputLength,
  checkName,
  checkObject,
  isSymbolic,
  readInputShape,
  refuseActivityRegularizer,
  shapesOf,
} from '../../src/base/layer_arguments.js';
import { INT32_MAX } from '../../src/base/types.js';
import { expectError } from '../helpers/errors.js';

type Case = readonly [value: unknown, name: 'TypeError' | 'ValueError', argument?: string];

/** Each value is refused by its class of error, and told. */
function expectRefused(check: (value: never) => unknown, argument: string, cases: readonly Case[]): void {
  for (const [value, name, of] of cases) expectError(() => check(value as never), name, of ?? argument);
}

describe('Arguments that layers share', () => {
  it('are these', () => {
    expect([...LAYER_OPTIONS].join(' ')).toBe('name trainable dtype inputDType inputShape batchInputShape batchSize');
  });

  it('objects, and nothing else', () => {
    const value = { a: 1 };
    expect(checkObject(value, 'args')).toBe(value);
    expectRefused(
      (each) => checkObject(each, 'args'),
      'args',
      [null, undefined, [], 3, 'a', () => 1].map((each) => [each, 'TypeError'] as const),
    );
  });

  it('dimensions: whole numbers from 1 to the largest int32', () => {
    for (const value of [1, 7, INT32_MAX]) expect(checkDimension(value, 'units')).toBe(value);
    const wrong = [0, -1, 1.5, NaN, Infinity, INT32_MAX + 1].map((each) => [each, 'ValueError'] as const);
    expectRefused((each) => checkDimension(each, 'units'), 'units', [
      ...wrong,
      ...[undefined, null, '3', [3]].map((each) => [each, 'TypeError'] as const),
    ]);
  });

  it('flags, with a default where nothing is given', () => {
    for (const byDefault of [true, false]) {
      for (const nothing of [undefined, null]) expect(checkBoolean(nothing, 'maskZero', byDefault)).toBe(byDefault);
      for (const flag of [true, false]) expect(checkBoolean(flag, 'maskZero', byDefault)).toBe(flag);
    }
    expectRefused((each) => checkBoolean(each, 'maskZero', true), 'maskZero', [
      [0, 'TypeError'],
      ['true', 'TypeError'],
    ]);
  });

  it('names that tfjs takes for tensors', () => {
    for (const name of ['a', '7', 'A-b.c_d/e9', 'Zz']) expect(checkName(name)).toBe(name);
    for (const nothing of [undefined, null]) expect(checkName(nothing)).toBeUndefined();
    for (const name of ['', '-a', '_a', '/a', 'a b', 'a\nb', 'a:0', ' a', 'a ', 'é'])
      expectError(() => checkName(name, 'label'), 'ValueError', 'label');
    expectError(() => checkName(3), 'TypeError', 'name');
  });

  it('lengths of inputs', () => {
    for (const nothing of [undefined, null]) expect(checkInputLength(nothing)).toBeNull();
    for (const value of [1, 9, [], [2], [3, null]]) expect(checkInputLength(value)).toBe(value as never);
    expectRefused(checkInputLength, 'inputLength', [
      ...[0, -1, 1.5, [2, 0], [1, NaN]].map((each) => [each, 'ValueError'] as const),
      ...['3', true, ['a'], [undefined]].map((each) => [each, 'TypeError'] as const),
    ]);
  });

  it('shapes of inputs: that of the batch, else of a sample, else the lengths', () => {
    const batchInputShape = [4, null, 0];
    expect(readInputShape({ batchInputShape, inputShape: [7], batchSize: 3 }, 5)).toBe(batchInputShape);
    expect(readInputShape({ inputShape: [2, null] }, 5)).toEqual([null, 2, null]);
    expect(readInputShape({ inputShape: [2], batchSize: 3 }, 5)).toEqual([3, 2]);
    expect(readInputShape({ batchSize: 3 }, [5, null])).toEqual([3, 5, null]);
    expect(readInputShape({}, 5)).toEqual([null, 5]);
    expect(readInputShape({}, null)).toEqual([null, null]);
    const nothing = { batchInputShape: null, inputShape: null, batchSize: null } as never;
    expect(readInputShape(nothing, 5)).toEqual([null, 5]);
  });

  it('shapes of inputs have an axis beside that of the batch, where that is asked for', () => {
    expect(readInputShape({ batchInputShape: [null] }, null, 0)).toEqual([null]);
    expect(readInputShape({ inputShape: [] }, null, 0)).toEqual([null]);
    expect(readInputShape({}, [], 0)).toEqual([null]);
    expectError(() => readInputShape({ batchInputShape: [] }, null, 0), 'ValueError', 'batchInputShape', '[]');
    expectError(() => readInputShape({ batchInputShape: [3] }, null), 'ValueError', 'batchInputShape', '[3]');
    expectError(() => readInputShape({ inputShape: [] }, null), 'ValueError', 'inputShape', '[]');
    expectError(() => readInputShape({}, []), 'ValueError', 'inputLength', '[]');
    expectError(() => readInputShape({ batchSize: 0 }, 3), 'ValueError', 'batchSize', '0');
    for (const argument of ['inputShape', 'batchInputShape']) {
      expectRefused((each) => readInputShape({ [argument]: each }, 3), argument, [
        ...[[-1, 2], [1.5, 2]].map((each) => [each, 'ValueError'] as const), // prettier-ignore
        ...[3, 'a', {}, ['a', 2], [undefined, 2]].map((each) => [each, 'TypeError'] as const),
      ]);
    }
  });

  it('dtypes of float32 tables and of ids', () => {
    const right = ['float32', 'int32', 'mixed_float16', 'mixed_bfloat16', 'mixedFloat16', 'mixedBfloat16'];
    for (const dtype of [undefined, null, ...right]) expect(() => checkDtype(dtype, 'dtype')).not.toThrow();
    for (const dtype of ['float64', '', 3, {}])
      expectError(() => checkDtype(dtype, 'inputDType'), 'TypeError', 'inputDType');
  });

  it('no activity regularizers', () => {
    for (const nothing of [undefined, null]) expect(() => refuseActivityRegularizer(nothing)).not.toThrow();
    expectError(() => refuseActivityRegularizer('l2'), 'ValueError', 'activityRegularizer', '"l2"');
    expectError(() => refuseActivityRegularizer({}), 'ValueError', 'activityRegularizer', 'a regularizer');
  });

  it('one shape or several, symbolic tensors or others', () => {
    expect(shapesOf([null, 2])).toEqual([[null, 2]]);
    expect(shapesOf([[null, 2], [3]])).toEqual([[null, 2], [3]]); // prettier-ignore
    expect(isSymbolic(tf.input({ shape: [2] }))).toBeTrue();
    for (const value of [null, {}, [2]]) expect(isSymbolic(value)).toBeFalse();
    tf.tidy(() => expect(isSymbolic(tf.scalar(1))).toBeFalse());
  });
});
