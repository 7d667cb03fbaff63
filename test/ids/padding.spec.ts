import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../src/ids/ragged_tensor.js';
import { expectError } from '../helpers/errors.js';

function padded(ragged: RaggedTensor, options?: object): unknown {
  return tf.tidy(() => ragged.toPadded(options).arraySync());
}

describe('toPadded', () => {
  it('places rows of rows, however many axes lie below', () => {
    const ragged = RaggedTensor.fromRows([[[1, 2], [3]], [], [[4], [5, 6, 7], [8]]]);
    expect(padded(ragged, { defaultValue: -1 })).toEqual([
      [[1, 2, -1], [3, -1, -1], [-1, -1, -1]],
      [[-1, -1, -1], [-1, -1, -1], [-1, -1, -1]],
      [[4, -1, -1], [5, 6, 7], [8, -1, -1]],
    ]); // prettier-ignore
    expect(padded(ragged, { maxLength: 1 })).toEqual([[[1], [3], [-1]], [[-1], [-1], [-1]], [[4], [5], [8]]]); // prettier-ignore
    expect(padded(ragged, { maxLength: [2, 2] })).toEqual([[[1, 2], [3, -1]], [[-1, -1], [-1, -1]], [[4, -1], [5, 6]]]); // prettier-ignore
    const deeper = RaggedTensor.fromRows([[[[1]], [[2, 3], [4]]], [[[5], [6], [7]]]]);
    expect(padded(deeper)).toEqual([
      [[[1, -1], [-1, -1], [-1, -1]], [[2, 3], [4, -1], [-1, -1]]],
      [[[5, -1], [6, -1], [7, -1]], [[-1, -1], [-1, -1], [-1, -1]]],
    ]); // prettier-ignore
  });

  it('keeps inner axes together', () => {
    const ragged = RaggedTensor.fromRowSplits([1, 2, 3, 4, 5, 6], [0, 1, 3], [2]);
    expect(padded(ragged, { defaultValue: 9 })).toEqual([[[1, 2], [9, 9]], [[3, 4], [5, 6]]]); // prettier-ignore
    const nested = RaggedTensor.fromNestedRowSplits([1, 2, 3, 4, 5, 6], [[0, 1, 2], [0, 2, 3]], [2]); // prettier-ignore
    expect(padded(nested)).toEqual([[[[1, 2], [3, 4]]], [[[5, 6], [-1, -1]]]]); // prettier-ignore
  });

  it('refuses a shape that no memory holds', () => {
    const nested = RaggedTensor.fromRows([[[1]]]);
    expectError(() => padded(nested, { maxLength: [2 ** 31 - 1, 2 ** 20] }), 'ValueError', 'maxLength', '1048576]');
    expectError(
      () => padded(nested, { maxLength: [2 ** 31 - 1, 2 ** 31 - 1] }),
      'ValueError',
      'maxLength',
      '[1, 2147483647',
    );
  });

  it('needs one length for each ragged axis', () => {
    const nested = RaggedTensor.fromRows([[[1]]]);
    for (const maxLength of [[], [1], [1, 1, 1]]) {
      expectError(() => padded(nested, { maxLength }), 'ValueError', 'maxLength');
    }
  });
});

describe('fromPadded', () => {
  it('takes a value of several numbers for padding only where all of them are', () => {
    const rows = [[[1, 2], [0, 3], [0, 0]], [[0, 0], [4, 0], [0, 5]], [[0, 0], [0, 0], [0, 0]]]; // prettier-ignore
    const trimmed = RaggedTensor.fromPadded(rows, { padding: 0 });
    expect(trimmed.toRows()).toEqual([[[1, 2], [0, 3]], [[0, 0], [4, 0], [0, 5]], []]); // prettier-ignore
    expect(trimmed.innerShape).toEqual([2]);
    expect(RaggedTensor.fromPadded(rows, { lengths: [1, 0, 2] }).toRows()).toEqual([[[1, 2]], [], [[0, 0], [0, 0]]]); // prettier-ignore
  });

  it('names the argument in errors', () => {
    const from = (data: unknown, options?: object): unknown => RaggedTensor.fromPadded(data as never, options);
    expectError(() => from([['a', 'b']]), 'TypeError', 'padded', 'string');
    expectError(() => from([[1, 2 ** 31]]), 'ValueError', 'padded', '2147483648');
    expectError(() => from([[1], [2, 3]]), 'ValueError', 'padded', 'uneven rows');
    expectError(() => from([[1]], { lengths: [1], padding: 0 }), 'ValueError', 'options', 'both');
    expectError(() => from([[1, 2]], { lengths: [-1] }), 'ValueError', 'lengths', '-1 at position 0');
    expectError(() => from([[1, 2]], { lengths: [3] }), 'ValueError', 'lengths', '3 at position 0');
    tf.tidy(() => expectError(() => from(tf.tensor2d([['a']])), 'TypeError', 'padded', 'string'));
  });
});
