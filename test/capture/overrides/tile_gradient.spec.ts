/** The gradient of `tf.tile` as one sum, beside that of tfjs. */
import { TILE_GRADIENT, summedRepetitions } from '../../../src/capture/overrides/tile_gradient.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import { describeTensorFlow } from '../../backends/tensorflow/tensorflow_backend.js';
import { Random } from '../../helpers/random.js';
import { opsRun } from './ops_run.js';

interface Case {
  readonly shape: readonly number[];
  readonly reps: readonly number[];
}

function draw(random: Random): Case {
  const shape = Array.from({ length: random.whole(1, 5) }, () => random.whole(1, 5));
  return { shape, reps: shape.map(() => (random.chance(0.4) ? 1 : random.whole(1, 5))) };
}

function gradientOf({ shape, reps }: Case, seed: number): tf.Tensor {
  const random = new Random(seed);
  const draw1 = (size: readonly number[]): tf.Tensor =>
    tf.tensor(random.floats(tf.util.sizeFromShape([...size])), [...size]);
  const dy = draw1(shape.map((size, axis) => size * reps[axis]!));
  return tf.grad((x) => tf.tile(x, [...reps]))(draw1(shape), dy);
}

describeTensorFlow('The sum of repetitions', () => {
  beforeEach(() => TILE_GRADIENT.install?.());

  it('is the gradient of tile', () => {
    const random = new Random(17);
    const some: Case[] = [
      { shape: [1, 7], reps: [300, 1] },
      { shape: [300, 1], reps: [1, 7] },
      { shape: [2, 3, 1], reps: [1, 1, 40] },
      { shape: [1, 1, 6], reps: [5, 9, 1] },
      { shape: [1], reps: [1] },
      { shape: [2, 3], reps: [1, 1] },
      { shape: [2, 1, 3], reps: [2, 3, 2] },
    ];
    for (const each of [...some, ...Array.from({ length: 60 }, () => draw(random))]) {
      tf.tidy(() => {
        const [stock, own] = [gradientOf(each, 5), withOverrides([TILE_GRADIENT], () => gradientOf(each, 5))];
        expect(own.shape).toEqual(stock.shape);
        const numbers = stock.dataSync();
        own.dataSync().forEach((number, i) => {
          expect(Math.abs(number - numbers[i]!))
            .withContext(JSON.stringify(each))
            .toBeLessThan(2e-5);
        });
      });
    }
  });

  it('is that of tensors of more axes too, for which tfjs has none', () => {
    const each = { shape: [2, 1, 2, 1, 3], reps: [1, 2, 1, 2, 1] };
    tf.tidy(() => {
      const gradient = withOverrides([TILE_GRADIENT], () =>
        tf.grad((x) => tf.tile(x, each.reps))(tf.ones(each.shape), tf.ones([2, 2, 2, 2, 3])),
      );
      expect([...gradient.dataSync()]).toEqual(Array.from({ length: 12 }, () => 4));
    });
  });

  it('is zeros where nothing was repeated', () => {
    tf.tidy(() => {
      const gradient = summedRepetitions(tf.zeros([0, 3]), [2, 3], [0, 1]);
      expect([...gradient.dataSync()]).toEqual([0, 0, 0, 0, 0, 0]);
    });
  });

  it('is one op, however often is repeated; without it, tfjs takes one for each', async () => {
    const each = { shape: [1, 4], reps: [50, 1] };
    const run = (): void => tf.dispose(tf.tidy(() => gradientOf(each, 1)));
    expect(await opsRun(/^(Sum|Slice|Add|AddV2)$/, () => withOverrides([TILE_GRADIENT], run))).toEqual(['Sum']);
    expect((await opsRun(/^Slice$/, run)).length).toBe(50);
  });
});
