/** Convolutions with windows shorter than their steps, as sums over windows. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';

/** Of one channel; zeros stand around. */
function windowSums(x: number[][], kernel: number[][], strides: readonly [number, number]): number[] {
  const sizes = [x.length, x[0]!.length];
  const windows = [kernel.length, kernel[0]!.length];
  const counts = sizes.map((size, axis) => Math.ceil(size / strides[axis]!));
  const before = sizes.map((size, axis) =>
    Math.floor(Math.max(0, (counts[axis]! - 1) * strides[axis]! + windows[axis]! - size) / 2),
  );
  const sums: number[] = [];
  for (let row = 0; row < counts[0]!; row++) {
    for (let column = 0; column < counts[1]!; column++) {
      let sum = 0;
      kernel.forEach((line, i) =>
        line.forEach((factor, j) => {
          sum += factor * (x[row * strides[0] + i - before[0]!]?.[column * strides[1] + j - before[1]!] ?? 0);
        }),
      );
      sums.push(sum);
    }
  }
  return sums;
}

describeForBackends(
  'convolutions with short windows',
  () => {
    for (const isDepthwise of [false, true]) {
      it(`lie where they belong: ${isDepthwise ? 'each channel' : 'all channels'}`, async () => {
        for (const kernel of [
          [[1, -2]],
          [[1], [-2]],
          [
            [1, 2],
            [3, 4],
          ],
          [[5]],
        ]) {
          // TensorFlow has equal steps alone for each channel.
          const unequal = isDepthwise ? [] : [[1, 2], [2, 1]]; // prettier-ignore
          for (const strides of [...unequal, [2, 2], [3, 3]] as [number, number][]) {
            for (const size of [4, 5]) {
              await expectNoLeakAsync(async () => {
                const rows = Array.from({ length: 5 }, (_, i) =>
                  Array.from({ length: size }, (_unused, j) => i * 7 + j * j),
                );
                const kernelSize = [kernel.length, kernel[0]!.length] as [number, number];
                const input = emb.input({ shape: [5, size, 1] });
                const settings = { kernelSize, strides, padding: 'same' as const, useBias: false };
                const layer = isDepthwise
                  ? tf.layers.depthwiseConv2d(settings)
                  : tf.layers.conv2d({ ...settings, filters: 1 });
                const model = tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor });
                const weights = tf.tensor(kernel.flat(), [...kernelSize, 1, 1]);
                layer.setWeights([weights]);
                const x = tf.tensor(rows.flat(), [1, 5, size, 1]);
                const y = model.predict(x) as tf.Tensor;
                const context = `${JSON.stringify(kernel)} by ${strides.join()} on ${size}`;
                expectClose(await y.data(), windowSums(rows, kernel, strides), 0, context);
                tf.dispose([weights, x, y]);
                model.dispose();
              });
            }
          }
        }
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
