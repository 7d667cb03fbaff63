/** Casts to truth values: all numbers but 0 are true, in models of this package on every backend. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

describeForBackends(
  'casts to truth values',
  () => {
    for (const [dtype, values] of [
      ['float32', [0, 0.5, 256, -0, NaN, 1]],
      ['int32', [0, 2, 256, 512, -256, 1]],
    ] as const) {
      it(`are false for 0 alone: ${dtype}`, async () => {
        await expectNoLeakAsync(async () => {
          const input = emb.input({ shape: [6], dtype });
          const cast = emb.layers.operation({ operation: 'Cast', settings: { dtype: 'bool' } });
          const back = emb.layers.operation({ operation: 'Cast', settings: { dtype: 'float32' } });
          const output = back.apply(cast.apply(input)) as tf.SymbolicTensor;
          const model = tf.model({ inputs: input, outputs: output });
          const x = tf.tensor2d([...values], [1, 6], dtype);
          const y = model.predict(x) as tf.Tensor;
          expect(Array.from(await y.data())).toEqual(values.map((value) => Number(value !== 0)));
          tf.dispose([x, y]);
          model.dispose();
        });
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
