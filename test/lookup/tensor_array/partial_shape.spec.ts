import * as tf from '@tensorflow/tfjs';
import { readDtype, readFlag, readValue, readWhole } from '../../../src/lookup/tensor_array/arguments.js';
import { FRESH, Elements } from '../../../src/lookup/tensor_array/elements.js';
import {
  isCompatible,
  isFullyDefined,
  mergeShapes,
  readPartialShape,
  showShape,
} from '../../../src/lookup/tensor_array/partial_shape.js';
import { expectError } from '../../helpers/errors.js';

describe('partial shapes', () => {
  it('are read as TensorFlow writes them', () => {
    expect([null, undefined].map((none) => readPartialShape(none, 'a'))).toEqual([null, null]);
    expect(readPartialShape([2, null, -1, undefined, 0], 'a')).toEqual([2, null, null, null, 0]);
    for (const wrong of [[-2], [0.5], [NaN]]) expectError(() => readPartialShape(wrong, 'a'), 'ValueError', 'a');
    expectError(() => readPartialShape(['2'] as never, 'a'), 'TypeError', 'a', '2');
    expectError(() => readPartialShape(2 as never, 'a'), 'TypeError', 'a', '2');
    expect([null, [], [2, null]].map(showShape)).toEqual(['<unknown>', '[]', '[2,?]']);
    expect([null, [], [2, null], [2, 3]].map(isFullyDefined)).toEqual([false, true, false, true]);
  });

  it('say together what each says', () => {
    expect(mergeShapes(null, [2], 'a')).toEqual([2]);
    expect(mergeShapes([2], null, 'a')).toEqual([2]);
    expect(mergeShapes([2, null, null], [null, 3, null], 'a')).toEqual([2, 3, null]);
    for (const other of [[3], [2, 2], []]) {
      expect(isCompatible([2], other)).toBeFalse();
      expectError(() => mergeShapes([2], other, 'a'), 'ValueError', 'a', showShape(other));
    }
    for (const other of [[2], [null], null]) expect(isCompatible([2], other)).toBeTrue();
    expect([isCompatible(null, [1]), isCompatible([null], [5])]).toEqual([true, true]);
  });
});

describe('arguments of a TensorArray', () => {
  it('are checked', () => {
    expect([readDtype(undefined), readDtype('string'), readDtype('complex64')]).toEqual([
      'float32',
      'string',
      'complex64',
    ]);
    for (const dtype of ['float32', 'int32', 'bool', 'complex64', 'string']) {
      expect(readDtype(dtype)).toBe(dtype as never);
      expect(() => readDtype('float64')).toThrowError(new RegExp(dtype));
    }
    expectError(() => readDtype('float64', 'a'), 'ValueError', 'a', 'float64');
    expectError(() => readDtype(null), 'TypeError', 'dtype', 'null');
    expect([readFlag(undefined, true, 'a'), readFlag(false, true, 'a')]).toEqual([true, false]);
    expectError(() => readFlag(null, true, 'a'), 'TypeError', 'a', 'null');
    tf.tidy(() => {
      expect([readWhole(-3, 'a'), readWhole(tf.scalar(7, 'int32'), 'a')]).toEqual([-3, 7]);
      expectError(() => readWhole(tf.scalar(7), 'a'), 'TypeError', 'a', 'float32');
      expectError(() => readWhole(tf.tensor1d([7], 'int32'), 'a'), 'ValueError', 'a', '[1]');
      expectError(() => readWhole(0.5, 'a'), 'ValueError', 'a', '0.5');
      expectError(() => readWhole('1', 'a'), 'TypeError', 'a', '1');
      const tensor = tf.scalar(1);
      expect(readValue(tensor, 'int32', 'a')).toEqual({ tensor, isOwn: false });
      for (const value of [3, [3], Int32Array.of(3)]) {
        const read = readValue(value, 'int32', 'a');
        expect([read.isOwn, read.tensor.dtype, ...read.tensor.dataSync()] as unknown).toEqual([true, 'int32', 3]);
      }
      expectError(() => readValue('x', 'string', 'a'), 'TypeError', 'a', 'x');
    });
  });
});

describe('elements of a TensorArray', () => {
  const written = { ...FRESH, written: true, shape: [2] };
  const shown = (elements: Elements): unknown[] =>
    [...elements.stretches()].map(({ from, to, state, isKept }) => [from, to, state.written, isKept]);

  it('are stretches of equal ones, and those that were used', () => {
    const elements = new Elements(5);
    expect(elements.size).toBe(5);
    elements.grow(7, FRESH);
    expect(shown(elements)).toEqual([[0, 7, false, false]]);
    elements.grow(9, written);
    elements.grow(3, written);
    elements.grow(9, FRESH);
    expect([elements.size, shown(elements)]).toEqual([9, [[0, 7, false, false], [7, 9, true, false]]]); // prettier-ignore
    const kept = elements.at(8);
    expect([kept.written, kept.shape, kept.tensor]).toEqual([true, [2], null]);
    expect(elements.at(8)).toBe(kept);
    kept.written = false;
    elements.at(0);
    elements.at(7).read = true;
    expect(shown(elements)).toEqual([[0, 1, false, true], [1, 7, false, false], [7, 8, true, true], [8, 9, false, true]]); // prettier-ignore
    expect([...elements.entries()].map(([index]) => index).sort()).toEqual([0, 7, 8]);
    expect(elements.at(6).written).toBeFalse();
    elements.clear();
    expect([elements.size, shown(elements)]).toEqual([0, []]);
  });

  it('change up to an end where they are not kept', () => {
    const elements = new Elements(6);
    elements.at(1);
    elements.changeOthers(3, (state) => ({ ...state, written: true }));
    expect(shown(elements)).toEqual([[0, 1, true, false], [1, 2, false, true], [2, 3, true, false], [3, 6, false, false]]); // prettier-ignore
    elements.changeOthers(9, (state) => ({ ...state, written: true }));
    expect(shown(elements)).toEqual([[0, 1, true, false], [1, 2, false, true], [2, 6, true, false]]); // prettier-ignore
    elements.changeOthers(0, () => FRESH);
    expect(shown(elements)[0]).toEqual([0, 1, true, false]);
    const states = [
      { ...FRESH, shape: [2] },
      { ...FRESH, shape: [3] },
      { ...FRESH, read: true },
      { ...FRESH, cleared: true },
    ];
    const apart = new Elements(1);
    states.forEach((state, i) => apart.grow(2 + i, state));
    expect([...apart.stretches()].length).toBe(5);
  });
});
