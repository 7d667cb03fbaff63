/** What a file says of layers and no prediction shows: what is frozen, and what is added to the loss. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { goldenPath } from './keras_cases.js';

const FILES = ['k3_settings.keras', 'k3_settings.h5'];

/** The penalty of one weight, by its formula. */
function penalty(weight: tf.Tensor, l1: number, l2: number): number {
  const values = Array.from(weight.dataSync());
  return values.reduce((sum, value) => sum + l1 * Math.abs(value) + l2 * value * value, 0);
}

describeForBackends(
  'settings of layers in files of Keras',
  () => {
    for (const file of FILES) {
      it(`freezes the layers that are frozen: ${file}`, async () => {
        const model = await emb.loadKerasModel(goldenPath(`keras_files/${file}`));
        expect(model.layers.filter(({ trainable }) => !trainable).map(({ name }) => name)).toContain('frozen');
        expect(model.trainableWeights.map(({ originalName }) => originalName).sort()).toEqual([
          'l1/bias',
          'l1/kernel',
          'l1_l2/bias',
          'l1_l2/kernel',
          'l2/bias',
          'l2/kernel',
          'pooled/embeddings',
        ]);
        model.dispose();
      });

      it(`adds the penalties that the file tells, and no others: ${file}`, async () => {
        const model = await emb.loadKerasModel(goldenPath(`keras_files/${file}`));
        const weight = (layer: string, i: number): tf.Tensor => model.getLayer(layer).getWeights()[i]!;
        const expected = [
          penalty(weight('pooled', 0), 0.5, 0),
          penalty(weight('l1', 0), 0.02, 0),
          penalty(weight('l2', 1), 0, 0.03),
          penalty(weight('l1_l2', 0), 0.04, 0.05),
        ].reduce((sum, each) => sum + each);
        const words = tf.tensor2d([[1, 2, 3]], [1, 3], 'int32');
        const zeros = tf.zeros([1, 3]);
        // The outputs take no part: their loss is 0. Nor do steps: their rate is 0.
        model.compile({ optimizer: tf.train.sgd(0), loss: (_, outputs) => outputs.mul(0).mean() });
        expect(await model.trainOnBatch(words, zeros)).toBeCloseTo(expected, 4);
        tf.dispose([words, zeros]);
        model.dispose();
      });
    }
  },
  ['cpu native', 'tensorflow'],
);
