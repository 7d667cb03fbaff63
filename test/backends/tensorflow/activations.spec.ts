import * as tf from '@tensorflow/tfjs';
import { describeTensorFlow, nodeBackend } from './tensorflow_backend.js';

describeTensorFlow('TPUEmbeddingActivations on the CPU', () => {
  it('returns its second input', () => {
    const backend = nodeBackend();
    const type = backend.binding.TF_ATTR_INT;
    const attributes = [
      { name: 'table_id', type, value: 0 },
      { name: 'lookup_id', type, value: 1 },
    ];
    tf.tidy(() => {
      const variable = tf.zeros([1]);
      for (const activations of [
        tf.tensor2d([
          [1, 2],
          [3, 4],
        ]),
        tf.zeros([0, 3]),
        tf.scalar(7),
      ]) {
        const result = backend.executeSingleOutput('TPUEmbeddingActivations', attributes, [variable, activations]);
        expect(result.shape).toEqual(activations.shape);
        expect([...result.dataSync()]).toEqual([...activations.dataSync()]);
      }
    });
  });
});
