import * as tf from '@tensorflow/tfjs';
import { readValues } from '../../../src/formats/graph_models/host_array.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectNoLeak } from '../../helpers/tensors.js';

describeForBackends(
  'values of tensors on the host',
  () => {
    it('are an array of the dtype, also behind a cast', () => {
      expectNoLeak(() =>
        tf.tidy(() => {
          const read = (x: tf.Tensor): unknown => readValues(tf.backend(), x, 'x');
          const [whole, truth] = [tf.tensor1d([1, -2], 'int32'), tf.tensor1d([true, false], 'bool')];
          expect(read(whole)).toEqual(Int32Array.of(1, -2));
          expect(read(tf.cast(whole, 'float32'))).toEqual(Float32Array.of(1, -2));
          expect(read(tf.cast(truth, 'float32'))).toEqual(Float32Array.of(1, 0));
          expect(read(tf.cast(truth, 'int32'))).toEqual(Int32Array.of(1, 0));
          expect(read(truth)).toEqual(Uint8Array.of(1, 0));
        }),
      );
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
