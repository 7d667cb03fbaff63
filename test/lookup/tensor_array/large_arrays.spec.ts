/** Arrays of which little is used: what nobody touched costs nothing, and behaves as in small ones. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectError } from '../../helpers/errors.js';
import { expectClose, expectNoLeak } from '../../helpers/tensors.js';

const MOST = 2 ** 31 - 1;

function expectValues(tensor: tf.Tensor, values: readonly number[]): void {
  expectClose(tensor.dataSync(), values);
  tensor.dispose();
}

/** Bytes of the heap that `f` leaves behind, at most. */
function heapOf(f: () => unknown): number {
  const before = process.memoryUsage().heapUsed;
  const kept = f();
  const after = process.memoryUsage().heapUsed;
  return kept === null ? 0 : after - before;
}

describe('TensorArray, large', () => {
  for (const size of [1e8, 1e9, MOST]) {
    it(`of ${size} elements takes memory for those that are used`, () => {
      const used = heapOf(() => {
        const array = new emb.TensorArray({ size, elementShape: [2], clearAfterRead: false });
        expect(array.size()).toBe(size);
        array.write(size - 1, [1, 2]).write(0, [3, 4]);
        expectValues(array.gather([size - 1, 7, 0]), [1, 2, 0, 0, 3, 4]);
        array.close();
        return array;
      });
      expect(used).toBeLessThan(2 ** 25);
    });
  }

  it('grows by a write far away', () => {
    for (const at of [1e8, 1e9, MOST - 1]) {
      const array = new emb.TensorArray({ size: 1, dynamicSize: true }).write(at, [5]);
      expect(array.size()).toBe(at + 1);
      expectValues(array.read(at), [5]);
      array.close();
    }
  });

  it('has gradients of its size, and reads them past the end', () => {
    const array = new emb.TensorArray({ size: 1e9, elementShape: [2] }).write(5e8, [1, 2]);
    const { gradHandle } = emb.tensorArrayGrad(array.handle, array.flow, 'gradients');
    const gradient = emb.tensorArray(gradHandle).write(5e8, [3, 4]).write(5e8, [1, 1]);
    expectValues(gradient.gather([5e8, 3]), [4, 5, 0, 0]);
    expectValues(gradient.read(2e9), [0, 0]);
    expect(gradient.size()).toBe(2e9 + 1);
    expect(array.size()).toBe(1e9);
    gradient.write(15e8, [7, 8]);
    expectValues(gradient.read(15e8), [7, 8]);
    array.close();
    gradient.close();
  });

  it('refuses more than 2^31 - 1 elements by name', () => {
    for (const size of [MOST + 1, 2 ** 40, 1e300]) {
      expectError(() => new emb.TensorArray({ size }), 'ValueError', 'size');
    }
    const array = new emb.TensorArray({ size: 0, dynamicSize: true, elementShape: [1] });
    const { gradHandle } = emb.tensorArrayGrad(
      new emb.TensorArray({ size: 1, elementShape: [1] }).handle,
      tf.scalar(0),
      'gradients',
    );
    for (const index of [MOST, MOST + 1, 2 ** 40, 1e300]) {
      expectError(() => array.write(index, [1]), 'ValueError', 'index');
      expectError(() => array.read(index), 'ValueError', 'index');
      expectError(() => emb.tensorArray(gradHandle).read(index), 'ValueError', 'index');
    }
    expect(array.size()).toBe(0);
    array.close();
  });

  it('refuses to stack or join what memory does not hold', () => {
    for (const [size, elementShape] of [
      [MOST, [1000]],
      [MOST, [100]],
      [1e8, [1000]],
      [1e9, [2, 500]],
    ] as const) {
      for (const join of ['stack', 'concat'] as const) {
        const array = new emb.TensorArray({ size, elementShape });
        expectError(() => array[join](), 'ValueError', 'size');
        array.close();
      }
    }
  });
});

describe('TensorArray, written in part', () => {
  it('stacks what was written among zeros', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const array = new emb.TensorArray({ size: 1e5, elementShape: [2] }).write(3, [1, 2]).write(4, [3, 4]);
        const rows = array.write(99_999, [5, 6]).stack();
        expect(rows.shape).toEqual([1e5, 2]);
        expectValues(rows.slice([2], [4]), [0, 0, 1, 2, 3, 4, 0, 0]);
        expectValues(rows.slice([99_998], [2]), [0, 0, 5, 6]);
        expectValues(rows.sum(), [21]);
        // Cleared, all of them.
        for (const at of [0, 3, 50_000, 99_999]) expectError(() => array.read(at), 'ValueError', 'index');
        expectError(() => array.stack(), 'ValueError', 'index');
        expectError(() => array.write(50_000, [1, 2]), 'ValueError', 'index');
      });
    });
  });

  it('goes on where it grows after it was stacked', () => {
    tf.tidy(() => {
      const array = new emb.TensorArray({ size: 4, elementShape: [1], dynamicSize: true }).write(1, [1]);
      expectValues(array.stack(), [0, 1, 0, 0]);
      expectValues(array.write(6, [2]).gather([4, 5, 6]), [0, 0, 2]);
      expectError(() => array.read(2), 'ValueError', 'index');
      expect(array.size()).toBe(7);
    });
  });

  it('stacks again where reads clear nothing, and refuses writes to what was read', () => {
    tf.tidy(() => {
      const array = new emb.TensorArray({ size: 5, elementShape: [1], clearAfterRead: false }).write(2, [1]);
      for (let time = 0; time < 2; time++) expectValues(array.stack(), [0, 0, 1, 0, 0]);
      expectError(() => array.write(0, [1]), 'ValueError', 'index');
    });
  });

  it('leaves unread what lies behind an error', () => {
    tf.tidy(() => {
      const array = new emb.TensorArray({ size: 9, elementShape: [1] }).write(4, [1]);
      array.read(4).dispose();
      expectError(() => array.stack(), 'ValueError', 'index');
      expectError(() => array.read(3), 'ValueError', 'index');
      expectValues(array.gather([5, 8]), [0, 0]);
    });
  });

  it('concatenates what was written among zeros, with the lengths', () => {
    tf.tidy(() => {
      const array = new emb.TensorArray({ size: 5, elementShape: [2, 1] }).write(2, [[1], [2]]);
      const { value, lengths } = array.concat();
      expectValues(value, [0, 0, 0, 0, 1, 2, 0, 0, 0, 0]);
      expect(value.shape).toEqual([10, 1]);
      expect(lengths).toEqual([2, 2, 2, 2, 2]);
    });
  });

  it('reads zeros of each dtype', () => {
    tf.tidy(() => {
      for (const [dtype, zero] of [
        ['int32', 0],
        ['bool', 0],
        ['string', ''],
      ] as const) {
        const rows = new emb.TensorArray({ size: 3, elementShape: [2], dtype }).stack();
        expect(rows.dtype).toBe(dtype);
        expect(Array.from(rows.dataSync() as unknown as ArrayLike<unknown>)).toEqual(new Array(6).fill(zero));
      }
    });
  });

  it('is differentiable', () => {
    const x = tf.tensor1d([1, 2]);
    const gradient = tf.grad((value) =>
      tf.tidy(() => {
        const rows = new emb.TensorArray({ size: 1e4, elementShape: [2] }).write(7, value).write(9, value).stack();
        return tf.sum(tf.mul(rows, tf.range(0, 2e4).reshape([1e4, 2])));
      }),
    )(x);
    expectValues(gradient, [14 + 18, 15 + 19]);
    tf.dispose([x, gradient]);
  });
});

describe('TensorArray, memory of a tape', () => {
  const forms: Readonly<Record<string, (array: emb.TensorArray, x: tf.Tensor) => tf.Tensor>> = {
    'writes and one stack': (array, x) => array.write(0, x).write(1, x).write(2, x).stack(),
    'writes and reads': (array, x) => tf.add(array.write(0, x).read(0), array.write(2, x).read(2)),
    unstack: (array, x) => array.unstack(tf.stack([x, x, x])).stack(),
    scatter: (array, x) => array.scatter([2, 0, 1], tf.stack([x, x, x])).stack(),
    split: (array, x) => array.split(tf.concat([x, x, x]), [2, 2, 2]).concat().value,
  };
  for (const [name, use] of Object.entries(forms)) {
    it(`nothing stays of ${name} when all elements were read, without close`, () => {
      const x = tf.tensor1d([1, 2]);
      expectNoLeak(() => {
        for (let step = 0; step < 5; step++) {
          const array = new emb.TensorArray({ size: 3 });
          tf.grad((value) => tf.sum(use(array, value)))(x).dispose();
        }
      });
      x.dispose();
    });
  }

  it('gradients of values that were written before and never read are zeros', () => {
    tf.tidy(() => {
      const array = new emb.TensorArray({ size: 3 });
      const gradients = tf.grads((a, b, c) => {
        array.write(0, a).read(0);
        array.write(1, b);
        return tf.sum(array.write(2, c).read(2));
      })([tf.tensor1d([1]), tf.tensor1d([2]), tf.tensor1d([3])]);
      expect(gradients.map((gradient) => gradient.dataSync()[0]!)).toEqual([0, 0, 1]);
    });
  });
});
