import * as tf from '@tensorflow/tfjs';
import { Normalization, type NormalizationArgs } from '../../../src/layers/preprocessing/normalization.js';
import { expectError } from '../../helpers/errors.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeak } from '../../helpers/tensors.js';

describeForBackends(
  'Normalization',
  () => {
    it('takes numbers to mean 0 and deviation 1, and back with invert', () => {
      expectNoLeak(() => {
        tf.tidy(() => {
          const moments = { mean: [1, -2], variance: [4, 9] };
          const x = tf.tensor2d([
            [3, 4],
            [1, -2],
          ]);
          const scaled = new Normalization(moments).apply(x) as tf.Tensor;
          expectClose(scaled.dataSync(), [1, 2, 0, 0]);
          const back = new Normalization({ ...moments, invert: true }).apply(scaled) as tf.Tensor;
          expectClose(back.dataSync(), [3, 4, 1, -2]);
        });
      });
    });

    it('has means of 0, variances of 1 and a count as weights that do not train', () => {
      expectNoLeak(() => {
        const layer = new Normalization({ axis: [1, 2] });
        const x = tf.ones([2, 3, 4], 'int32');
        const y = layer.apply(x) as tf.Tensor;
        expect(y.dtype).toBe('float32');
        expectClose(y.dataSync(), new Float32Array(24).fill(1));
        expect(
          layer.weights.map(({ originalName, shape, dtype }) => [originalName.split('/').at(-1), shape, dtype]),
        ).toEqual([
          ['mean', [3, 4], 'float32'],
          ['variance', [3, 4], 'float32'],
          ['count', [], 'int32'],
        ]);
        expect(layer.trainableWeights).toEqual([]);
        tf.dispose([x, y]);
        layer.dispose();
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('Normalization', () => {
  beforeAll(() => tf.setBackend('cpu'));

  it('says what is wrong with its arguments', () => {
    const make = (args: object) => () => new Normalization(args as NormalizationArgs);
    expect(make({ axis: 'x' })).toThrowError(TypeError, /`axis`/);
    expect(make({ axis: 0.5 })).toThrowError(/`axis`.*whole number/);
    expect(make({ mean: 'x', variance: 1 })).toThrowError(TypeError, /`mean`/);
    expect(make({ mean: [[1], [2, 3]], variance: 1, axis: [1, 2] })).toThrowError(/rows of equal length/);
    expect(make({ mean: [[1]], variance: [[1]] })).toThrowError(/at most as many axes as axis has \(1\)/);
    expectError(make({ mean: [[1]], variance: [[1]] }), 'ValueError', 'mean', '[1, 1]');
    expectError(make({ mean: [1, 2], variance: [1] }), 'ValueError', 'variance', '[1]');
    expectError(make({ mean: 1 }), 'ValueError', 'variance', 'one of them');
    expectError(make({ variance: 1 }), 'ValueError', 'mean', 'one of them');
    const applied = (args: object, shape: number[]) => () =>
      tf.tidy(() => make(args)().apply(tf.zeros(shape)) as tf.Tensor);
    expectError(applied({ axis: 2 }, [2, 3]), 'ValueError', 'axis', '[2]');
    expectError(applied({ axis: -3 }, [2, 3]), 'ValueError', 'axis', '[-3]');
    expectError(applied({ axis: [1, -1] }, [2, 3]), 'ValueError', 'axis', '[1, -1]');
    expectError(applied({ mean: [1, 2], variance: [1, 1] }, [2, 3]), 'ValueError', 'mean', '2');
    expect(make({ varience: 1 })).toThrowError(/Did you mean variance\?/);
  });

  it('takes another rank later only where Keras would broadcast alike', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const last = new Normalization({ mean: [1, 2], variance: [1, 1] });
        last.apply(tf.zeros([3, 2]));
        expect((last.apply(tf.zeros([1, 1, 2])) as tf.Tensor).arraySync()).toEqual([[[-1, -2]]]);
        const first = new Normalization({ axis: 1, mean: [1, 2], variance: [1, 1] });
        first.apply(tf.zeros([3, 2]));
        expect(() => first.apply(tf.zeros([3, 2, 2]))).toThrowError(/rank 2, as in the first call/);
      });
      const found = new Normalization();
      tf.tidy(() => {
        found.apply(tf.zeros([3, 2]));
        expect(() => found.apply(tf.zeros([3, 4]))).toThrowError(/\[2\] along axis, as in the first call/);
      });
      found.dispose();
    });
  });

  it('keeps nested means and no means in its config', () => {
    const moments = {
      axis: [1, 2],
      mean: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      variance: [
        [1, 1, 1],
        [2, 2, 2],
      ],
    };
    const config = new Normalization(moments).getConfig();
    expect(config).toEqual(jasmine.objectContaining({ ...moments, invert: false }));
    const again = Normalization.fromConfig(Normalization as never, config) as unknown as Normalization;
    expect(again.getConfig()).toEqual(config);
    expect(new Normalization({ axis: null }).getConfig()).toEqual(jasmine.objectContaining({ axis: [], mean: null }));
  });
});
