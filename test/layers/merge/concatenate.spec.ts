import * as tf from '@tensorflow/tfjs';
import { Concatenate } from '../../../src/layers/merge/concatenate.js';
import { expectNoLeak } from '../../helpers/tensors.js';

type Masks = (number[][] | number[][][] | null)[] | null;

/** The mask of two inputs [2, 3, 2] joined along an axis. */
function masked(masks: Masks, axis = -1): unknown {
  let found: unknown;
  tf.tidy(() => {
    const inputs = [tf.zeros([2, 3, 2]), tf.ones([2, 3, 2])];
    const given = masks?.map((mask) => (mask === null ? null : (tf.tensor(mask, undefined, 'bool') as tf.Tensor)));
    const mask = new Concatenate({ axis }).computeMask(inputs, given ?? null) as tf.Tensor | null;
    expect(mask?.dtype ?? 'bool').toBe('bool');
    found = mask?.arraySync() ?? null;
  });
  return found;
}

const A = [[1, 0, 0], [1, 1, 0]]; // prettier-ignore
const B = [[0, 0, 1], [1, 0, 0]]; // prettier-ignore

describe('Concatenate as Keras 3 joins masks', () => {
  it('counts a step where one of its inputs counts, and all of those without a mask', () => {
    expectNoLeak(() => {
      expect(masked([A, B])).toEqual([[1, 0, 1], [1, 1, 0]]); // prettier-ignore
      expect(masked([A, A])).toEqual(A);
      expect(masked([A, null])).toEqual([[1, 1, 1], [1, 1, 1]]); // prettier-ignore
      expect(masked([null, B])).toEqual([[1, 1, 1], [1, 1, 1]]); // prettier-ignore
      expect(masked([A, B], 1)).toEqual([[1, 0, 0, 0, 0, 1], [1, 1, 0, 1, 0, 0]]); // prettier-ignore
    });
  });

  it('takes masks with a place for each number', () => {
    const places = (mask: number[][]): number[][][] => mask.map((row) => row.map((step, i) => [step, i === 2 ? 1 : 0]));
    expect(masked([places(A), places(A)])).toEqual([[1, 0, 1], [1, 1, 1]]); // prettier-ignore
  });

  it('has no mask where no input has one, or there are no inputs to join', () => {
    for (const none of [null, [null, null]]) expect(masked(none)).toBeNull();
    const [input, mask] = [tf.zeros([2, 3, 2]), tf.tensor2d(A, undefined, 'bool')];
    const layer = new Concatenate({ axis: -1 });
    expect(layer.computeMask(input, mask) as unknown).toBeNull();
    expect(layer.computeMask([input]) as unknown).toBeNull();
    tf.dispose([input, mask]);
    expect(layer.getClassName()).toBe('TfjsEmbeddings>Concatenate');
  });

  it('carries no gradient along masks', () => {
    const [gradient, mask] = [tf.ones([2, 3, 2]), tf.tensor2d(A, undefined, 'bool')];
    const joined = tf.grad((x: tf.Tensor) => {
      const found = new Concatenate({ axis: -1 }).computeMask([x, x], [mask, mask]);
      return x.mul(found.toFloat().expandDims(-1));
    })(gradient);
    expect(joined.arraySync()).toEqual(A.map((row) => row.map((step) => [step, step])));
    tf.dispose([gradient, mask, joined]);
  });
});
