import * as tf from '@tensorflow/tfjs';
import { rowNumbers } from '../../../src/tfjs_patches/training/row_numbers.js';
import { describeForBackends } from '../../helpers/backends.js';

describeForBackends(
  'rowNumbers',
  () => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

    it('gathered by row numbers are those numbers, and keep their memory alone', () => {
      const numbers = rowNumbers(6);
      expect([...numbers.dataSync()]).toEqual([0, 1, 2, 3, 4, 5]);
      const picked = tf.tensor1d([5, 0, 0, 3], 'int32');
      const found = tf.gather(numbers, picked);
      expect(found.dataId).toBe(picked.dataId);
      picked.dispose();
      expect([...found.dataSync()]).toEqual([5, 0, 0, 3]);
      expect([found.shape, found.dtype]).toEqual([[4], 'int32']);
      tf.dispose([numbers, found]);
    });

    it('leave the gathers of everything else as they are', () => {
      const numbers = rowNumbers(3);
      tf.tidy(() => {
        const x = tf.tensor1d([7, 8, 9], 'int32');
        expect([...tf.gather(x, tf.tensor1d([2, 0], 'int32')).dataSync()]).toEqual([9, 7]);
        expect(() => tf.gather(x, tf.tensor1d([3], 'int32'))).toThrowError(/3 is not in/);
      });
      numbers.dispose();
    });
  },
  ['tensorflow'],
);
