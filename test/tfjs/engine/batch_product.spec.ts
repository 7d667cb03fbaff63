/** Products of batches that broadcast, by sums of products. */
import * as tf from '@tensorflow/tfjs';
import { batchProduct } from '../../../src/tfjs/engine/batch_product.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';

const SHAPES: readonly [number[], number[]][] = [
  [
    [2, 2, 1, 1],
    [2, 1, 1, 1],
  ],
  [
    [2, 1, 1, 1],
    [1, 2, 1, 1],
  ],
  [
    [1, 3, 2, 2],
    [2, 1, 2, 3],
  ],
  [
    [2, 3],
    [2, 2, 3, 1],
  ],
  [
    [2, 2, 3],
    [2, 3, 1],
  ],
];

/** The same as a sum of an outer product. */
function summed(a: tf.Tensor, b: tf.Tensor): tf.Tensor {
  return tf.sum(tf.mul(tf.expandDims(a, -1), tf.expandDims(b, -3)), -2);
}

function numbered(shape: number[], first: number): tf.Tensor {
  const size = tf.util.sizeFromShape(shape);
  return tf.tensor(
    Array.from({ length: size }, (_, i) => first + ((i * 7) % 11)),
    shape,
  );
}

describeForBackends(
  'products of batches that broadcast',
  () => {
    for (const [ofA, ofB] of SHAPES) {
      it(`[${ofA.join(', ')}] by [${ofB.join(', ')}], with gradients`, async () => {
        await expectNoLeakAsync(async () => {
          const made = tf.tidy(() => {
            const [a, b] = [numbered(ofA, 1), numbered(ofB, -3)];
            const factors = numbered(summed(a, b).shape, 2);
            const of = (product: typeof summed) => [
              product(a, b),
              ...tf.grads((x, y) => tf.sum(tf.mul(product(x!, y!), factors)))([a, b]),
            ];
            return [of((x, y) => batchProduct(x, y)), of(summed)] as const;
          });
          const [found, wanted] = made;
          for (const [i, each] of found.entries()) {
            expect(each.shape).toEqual(wanted[i]!.shape);
            expectClose(await each.data(), Array.from(await wanted[i]!.data()), 0, ['product', 'a', 'b'][i]!);
          }
          tf.dispose([found, wanted]);
        });
      });
    }

    it('takes transposed sides', async () => {
      await expectNoLeakAsync(async () => {
        const [a, b, product, same] = tf.tidy(() => {
          const [x, y] = [numbered([2, 1, 3, 2], 1), numbered([2, 3, 2], -3)];
          const turned = (each: tf.Tensor): tf.Tensor =>
            tf.transpose(each, [...Array.from({ length: each.rank - 2 }, (_, i) => i), each.rank - 1, each.rank - 2]);
          return [x, y, batchProduct(x, turned(y), true, true), summed(turned(x), y)];
        });
        expect(product!.shape).toEqual(same!.shape);
        expectClose(await product!.data(), Array.from(await same!.data()), 0, 'product');
        tf.dispose([a!, b!, product!, same!]);
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
