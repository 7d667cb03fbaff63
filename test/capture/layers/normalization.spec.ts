/** Captured steps of the layer that scales numbers by a mean and a variance. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Normalization, type NormalizationArgs } from '../../../src/layers/preprocessing/normalization.js';
import { Random } from '../../helpers/random.js';
import { itIsCapturedRight, type Batch } from './checked_models.js';
import { describeSteps, expectCaptured } from '../training.js';
import { numbersOf, twins } from '../twins.js';

const [BATCH, WIDTH] = [8, 3];

function modelOf(args: NormalizationArgs): tf.LayersModel {
  const numbers = tf.input({ shape: [WIDTH] });
  const scaled = new Normalization(args).apply(numbers) as tf.SymbolicTensor;
  const hidden = tf.layers.dense({ units: 4, activation: 'tanh' }).apply(scaled) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(hidden) as tf.SymbolicTensor;
  return tf.model({ inputs: numbers, outputs });
}

function draw(random: Random): Batch {
  const x = Array.from({ length: BATCH }, () => Array.from({ length: WIDTH }, () => random.next() * 6 - 1));
  return { x: tf.tensor2d(x), y: tf.tensor2d(x.map(([first]) => [first! > 2 ? 1 : 0])) };
}

describeSteps('Captured steps of Normalization', () => {
  for (const [title, args] of [
    ['by given moments', { mean: [2, 1, 0], variance: [3, 0, 2] }],
    ['by one mean for all, inverted', { axis: null, mean: 2, variance: 3, invert: true }],
    ['by moments that are weights', {}],
  ] as const) {
    describe(title, () => itIsCapturedRight({ build: () => modelOf(args), draw, bad: [] }));
  }

  it('take moments that are set between steps', async () => {
    const training = twins(
      () => modelOf({}),
      async (model) => {
        model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), loss: 'binaryCrossentropy' });
        const layer = model.layers.find((each) => each instanceof Normalization)!;
        const losses: number[] = [];
        for (let step = 0; step < 12; step++) {
          if (step === 6) {
            const moments = [tf.tensor1d([2, 1, 0]), tf.tensor1d([3, 0.5, 2]), tf.scalar(9, 'int32')];
            layer.setWeights(moments);
            tf.dispose(moments);
          }
          const { x, y } = draw(new Random(step));
          losses.push(...numbersOf(await model.trainOnBatch(x, y)));
          tf.dispose([x, y]);
        }
        return losses;
      },
    );
    await expectCaptured(training);
  });
});
