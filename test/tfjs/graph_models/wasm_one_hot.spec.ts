import * as tf from '@tensorflow/tfjs';
import { mendWasmOneHot } from '../../../src/tfjs/graph_models/wasm_one_hot.js';
import { describeWasm } from '../../backends/wasm/wasm_backend.js';

describeWasm('one-hot vectors on wasm', () => {
  beforeAll(() => mendWasmOneHot());

  for (const dtype of ['float32', 'int32', 'bool'] as const) {
    it(`of ${dtype} are what they are on cpu`, async () => {
      const vectors = (): number[] =>
        tf.tidy(() => {
          const indices = tf.tensor2d([0, 2, -1, 3, 1, 7], [2, 3], 'int32');
          const hot = tf.oneHot(indices, 3, 1, 0, dtype);
          expect(hot.shape).toEqual([2, 3, 3]);
          expect(hot.dtype).toBe(dtype);
          return Array.from(hot.dataSync());
        });
      const ours = vectors();
      await tf.setBackend('cpu');
      const expected = vectors();
      await tf.setBackend('wasm');
      expect(ours).toEqual(expected);
      expect(ours.filter((value) => value === 1).length).toBe(3);
    });
  }

  it('of float32 take any two numbers', () => {
    tf.tidy(() => {
      const hot = tf.oneHot(tf.tensor1d([1], 'int32'), 3, 2.5, -0.25, 'float32');
      expect(Array.from(hot.dataSync())).toEqual([-0.25, 2.5, -0.25]);
    });
  });
});
