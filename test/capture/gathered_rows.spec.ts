/** Rows of the inputs of `fit` by their numbers, beside tf.gather. */
import * as tf from '@tensorflow/tfjs';
import { bytesOf } from '../../src/capture/recording.js';
import { gathered } from '../../src/capture/gathered_rows.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';

describeForBackends(
  'gathered',
  () => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

    const take = (whole: (tf.Tensor | null | undefined)[], rows: tf.Tensor1D): (tf.Tensor | null | undefined)[] => [
      ...gathered(whole, rows),
    ];

    it('gives the rows that tf.gather gives, of every width, rank and dtype', () => {
      const random = new Random(3);
      for (const shape of [[1], [1, 1], [1, 0], [9, 1], [50, 3], [50, 15], [50, 16], [20, 4, 5], [3000, 300]]) {
        for (const count of [0, 1, 7, 2000]) {
          tf.tidy(() => {
            const size = shape.reduce((a, b) => a * b, 1);
            const floats = tf.tensor(random.floats(size, -5, 5), shape);
            const ints = tf.tensor(
              Int32Array.from({ length: size }, () => random.whole(-9, 9)),
              shape,
              'int32',
            );
            const bools = floats.greater(0);
            const numbers = Int32Array.from({ length: count }, () => random.whole(0, shape[0]!));
            const rows = tf.tensor1d(numbers, 'int32');
            const whole = [floats, null, ints, bools, undefined, ints];
            const found = take(whole, rows);
            whole.forEach((tensor, i) => {
              if (tensor === null || tensor === undefined) {
                expect(found[i]).toBe(tensor as never);
                return;
              }
              const expected = tf.gather(tensor, rows);
              expect(found[i]!.dtype).toBe(expected.dtype);
              expect(found[i]!.shape).toEqual(expected.shape);
              const isEqual = Buffer.compare(bytesOf(found[i]!.dataSync()), bytesOf(expected.dataSync())) === 0;
              expect(isEqual)
                .withContext(`${shape.join('x')}, ${count} rows`)
                .toBeTrue();
            });
          });
        }
      }
    });

    it('refuses rows that are not there, at their place', () => {
      tf.tidy(() => {
        const x = tf.ones([4, 2]);
        expect(() => take([x], tf.tensor1d([0, 3, 4], 'int32'))).toThrowError(/rows\[2\] = 4 is not in \[0, 4\)/);
        expect(() => take([x], tf.tensor1d([-1], 'int32'))).toThrowError(/rows\[0\] = -1 is not in \[0, 4\)/);
      });
    });
  },
  ['tensorflow'],
);
