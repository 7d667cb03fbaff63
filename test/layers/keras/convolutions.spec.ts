/** Convolutions of Keras beside plain loops; beside Keras itself they are tried in formats/keras/drawn. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { KERAS_LAYERS } from '../../../src/layers/keras/keras_layers.js';
import { Random } from '../../helpers/random.js';

interface Settings {
  readonly kernelSize: readonly number[];
  readonly strides: readonly number[];
  readonly dilationRate: readonly number[];
  readonly padding: 'valid' | 'same' | 'causal';
}

/** Every place of a grid of these sizes. */
function placesOf(sizes: readonly number[]): number[][] {
  return sizes.reduce<number[][]>(
    (places, size) => places.flatMap((place) => Array.from({ length: size }, (_, i) => [...place, i])),
    [[]],
  );
}

const indexOf = (place: readonly number[], sizes: readonly number[]): number =>
  place.reduce((index, each, axis) => index * sizes[axis]! + each, 0);

/** `channelsOf`: which channels a result sums over, and where their numbers lie among those of a place of the kernel. */
function convolved(
  x: tf.Tensor,
  kernel: Float32Array,
  { kernelSize, strides, dilationRate, padding }: Settings,
  results: number,
  channelsOf: (result: number) => readonly (readonly [channel: number, at: number])[],
): number[] {
  const [batch, ...rest] = x.shape as [number, ...number[]];
  const [sizes, numbers] = [rest.slice(0, -1), x.dataSync()];
  const reach = kernelSize.map((size, i) => (size - 1) * dilationRate[i]! + 1);
  const counts = sizes.map((size, i) =>
    padding === 'valid' ? Math.floor((size - reach[i]!) / strides[i]!) + 1 : Math.ceil(size / strides[i]!),
  );
  const before = sizes.map((size, i) => {
    if (padding === 'valid') return 0;
    if (padding === 'causal') return reach[i]! - 1;
    return Math.floor(Math.max((counts[i]! - 1) * strides[i]! + reach[i]! - size, 0) / 2);
  });
  const window = placesOf(kernelSize);
  const perPlace = kernel.length / window.length;
  return placesOf([batch, ...counts, results]).map((place) => {
    const [sample, at, result] = [place[0]!, place.slice(1, -1), place.at(-1)!];
    let sum = 0;
    window.forEach((under, w) => {
      const from = at.map((each, i) => each * strides[i]! + under[i]! * dilationRate[i]! - before[i]!);
      if (from.some((each, i) => each < 0 || each >= sizes[i]!)) return;
      for (const [channel, number] of channelsOf(result))
        sum += numbers[indexOf([sample, ...from, channel], x.shape)]! * kernel[w * perPlace + number]!;
    });
    return sum;
  });
}

describe('convolutions of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  for (const axes of [1, 2, 3] as const) {
    for (const kind of ['Conv', 'DepthwiseConv'] as const) {
      if (kind === 'DepthwiseConv' && axes === 3) continue;
      it(`are sums over windows of any steps and gaps: ${kind}${axes}D`, () => {
        const random = new Random(10 * axes + kind.length);
        const tensors = tf.memory().numTensors;
        const Layer = KERAS_LAYERS.find(({ kind: { className } }) => className === `${kind}${axes}D`)!;
        for (let draw = 0; draw < 40; draw++) {
          const each = (least: number, most: number): number[] =>
            Array.from({ length: axes }, () => random.whole(least, most + 1));
          // Keras takes one of the two.
          const isDilated = random.chance(0.6);
          const settings: Settings = {
            kernelSize: each(1, 3),
            strides: isDilated ? each(1, 1) : Array<number>(axes).fill(random.whole(1, 4)),
            dilationRate: isDilated ? each(1, 3) : each(1, 1),
            padding: random.pick(axes === 1 && kind === 'Conv' ? ['valid', 'same', 'causal'] : ['valid', 'same']),
          };
          const groups = kind === 'Conv' ? random.whole(1, 3) : 1;
          const [inGroup, outOfGroup] = [random.whole(1, 4), random.whole(1, 4)];
          const [channels, multiplier] = [groups * inGroup, outOfGroup];
          const filters = kind === 'Conv' ? groups * outOfGroup : channels * multiplier;
          const perPlace = kind === 'Conv' ? inGroup * filters : filters;
          const kernel = Float32Array.from(
            { length: settings.kernelSize.reduce((a, b) => a * b, perPlace) },
            () => random.whole(-4, 5) / 2,
          );
          const channelsOf = (result: number): [number, number][] =>
            kind === 'Conv'
              ? Array.from({ length: inGroup }, (_, c) => [
                  Math.floor(result / outOfGroup) * inGroup + c,
                  c * filters + result,
                ])
              : [[Math.floor(result / multiplier), result]];
          const text = JSON.stringify({ ...settings, groups, inGroup, outOfGroup });
          const layer = new Layer({
            ...settings,
            ...(kind === 'Conv' ? { filters, groups } : { depthMultiplier: multiplier }),
            useBias: false,
          });
          tf.tidy(() => {
            const shape = [2, ...each(7, 9), channels];
            const x = tf.tensor(
              Array.from({ length: tf.util.sizeFromShape(shape) }, () => random.whole(-3, 4)),
              shape,
              'float32',
            );
            layer.build(shape);
            layer.setWeights([tf.tensor(kernel, layer.weights[0]!.shape as number[])]);
            const found = layer.apply(x) as tf.Tensor;
            expect(layer.computeOutputShape(shape)).withContext(text).toEqual(found.shape);
            // Halves and small whole numbers: sums are exact in any order.
            expect([...found.dataSync()])
              .withContext(text)
              .toEqual(convolved(x, kernel, settings, filters, channelsOf).map((sum) => sum + 0));
          });
          tf.dispose(layer.weights.map((weight) => weight.read()));
        }
        expect(tf.memory().numTensors).toBe(tensors);
      });
    }
  }
});
