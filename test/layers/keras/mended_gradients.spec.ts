/** Layers of tfjs whose gradients are missing or wrong on some backends, in models that follow Keras. */
import * as tf from '@tensorflow/tfjs';
import { mendModel } from '../../../src/layers/mended/mend_model.js';
import { describeForBackends } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

const STEP = 1 / 16;

const LAYERS: Readonly<Record<string, { shape: number[]; make: () => tf.layers.Layer }>> = {
  UpSampling2D: { shape: [5, 4, 2], make: () => tf.layers.upSampling2d({ size: [2, 3] }) },
  Conv3DTranspose: {
    shape: [2, 3, 2, 2],
    make: () =>
      tf.layers.conv3dTranspose({
        filters: 2,
        kernelSize: [2, 3, 2],
        strides: [2, 1, 2],
        padding: 'same',
      }) as tf.layers.Layer,
  },
};

describeForBackends('mended gradients', () => {
  for (const [name, { shape, make }] of Object.entries(LAYERS)) {
    it(`are those that differences tell, and results those of the CPU: ${name}`, async () => {
      await expectNoLeakAsync(async () => {
        const random = new Random(7);
        const layer = make();
        const model = tf.sequential({ layers: [tf.layers.inputLayer({ inputShape: shape }), layer] });
        mendModel(model, 3);
        const drawn = (sizes: number[]): tf.Tensor =>
          tf.tensor(Array.from({ length: tf.util.sizeFromShape(sizes) }, () => random.whole(-4, 5) / 4), sizes); // prettier-ignore
        tf.tidy(() => layer.setWeights(layer.weights.map((weight) => drawn(weight.shape as number[]))));
        const x = drawn([1, ...shape]);
        const output = tf.tidy(() => layer.apply(x) as tf.Tensor);
        const factors = drawn(output.shape);
        const sum = (given: tf.Tensor): tf.Scalar => (layer.apply(given) as tf.Tensor).square().mul(factors).sum();
        const gradient = tf.tidy(() => tf.grad(sum)(x));
        const values = x.dataSync().slice();
        for (let at = 0; at < values.length; at++) {
          // Of a square, a difference of both sides is the gradient itself.
          const beside = [STEP, -STEP].map((step) => {
            const moved = Float32Array.from(values, (value, i) => (i === at ? value + step : value));
            return tf.tidy(() => sum(tf.tensor(moved, x.shape)).dataSync()[0]!);
          });
          expect(gradient.dataSync()[at])
            .withContext(`${at}`)
            .toBeCloseTo((beside[0]! - beside[1]!) / (2 * STEP), 2);
        }
        // A product with a tensor is the sum of the gradient's: each number of the result is right.
        const found = tf.tidy(() => tf.grad((given: tf.Tensor) => (layer.apply(given) as tf.Tensor).mul(output).sum())(x).mul(x).sum().dataSync()[0]!); // prettier-ignore
        const bias = tf.tidy(() => layer.getWeights()[1]?.mul(output).sum().dataSync()[0] ?? 0);
        const own = tf.tidy(() => output.square().sum().dataSync()[0]!);
        expect(found + bias).toBeCloseTo(own, 2);
        tf.dispose([x, output, factors, gradient]);
        model.dispose();
      });
    });
  }
});
