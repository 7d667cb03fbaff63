/** Memory that TensorFlow lends, and where it may be copied to. */
import * as tf from '@tensorflow/tfjs';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { withTensor } from '../../../src/backends/tensorflow/node_backend.js';
import { describeTensorFlow, nodeBackend } from './tensorflow_backend.js';

/** Lends an array as a tensor while `run` runs. */
function lending(array: Float32Array, run: (number: number) => void): void {
  const backend = nodeBackend();
  const { TF_ATTR_INT, TF_ATTR_TYPE, TF_FLOAT } = backend.binding;
  const attributes = [
    { name: 'N', type: TF_ATTR_INT, value: 1 },
    { name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT },
  ];
  const number = loadAddon().loanNumber();
  withTensor(backend, array, [array.length], (tensor) => {
    withTensor(backend, Int32Array.of(number), [1], (numbers) => {
      backend.executeMultipleOutputs('EmbeddingLend', attributes, [numbers, tensor], 0);
    });
    try {
      run(number);
    } finally {
      loadAddon().endLoan(number);
    }
  });
}

describeTensorFlow('a loan of TensorFlow', () => {
  it('is never copied into its own memory', () => {
    // The ops of this package register with the first kernel.
    tf.tidy(
      () =>
        void tf
          .engine()
          .runKernel('EmbeddingBag', firstCall(), { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as never),
    );
    let refused = 0;
    // TensorFlow holds a typed array as it is where its alignment suits, so many are tried.
    for (let i = 0; i < 24; i++) {
      const array = new Float32Array(64 + i).fill(1);
      lending(array, (number) => {
        const apart = new Float32Array(4);
        loadAddon().readLoan(number, 0, 4, 1, 4, apart);
        expect([...apart]).toEqual([1, 1, 1, 1]);
        try {
          loadAddon().readLoan(number, 0, 4, 1, 4, array.subarray(2, 6));
        } catch (error) {
          expect((error as Error).message).toBe(
            '`target`: expected memory of its own, received memory of the tensor that is lent',
          );
          refused++;
        }
      });
    }
    expect(refused).toBeGreaterThan(0);
  });
});

function firstCall(): tf.NamedTensorMap {
  return { table: tf.ones([1, 1]), values: tf.tensor1d([0], 'int32'), rowSplits: tf.tensor1d([0, 1], 'int32') };
}
