/** Steps over sequences, captured beside op by op. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { GRU } from '../../src/layers/recurrent/gru.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { drawIds, expectEqual, numbersOf, twins } from './twins.js';

const [ROWS, LENGTH, BATCH] = [20, 4, 8];

function modelOf(): tf.LayersModel {
  const table = emb.layers.embedding({ inputDim: ROWS, outputDim: 3, inputShape: [LENGTH] });
  const gru = new GRU({ units: 4, recurrentActivation: 'sigmoid', recurrentInitializer: 'glorotNormal' });
  return tf.sequential({
    layers: [table, gru as tf.layers.Layer, tf.layers.dense({ units: 1, activation: 'sigmoid' })],
  });
}

async function train(model: tf.LayersModel): Promise<number[]> {
  const random = new Random(3);
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'binaryCrossentropy' });
  const losses: number[] = [];
  for (let step = 0; step < 8; step++) {
    const ids = drawIds(random, BATCH, LENGTH, ROWS);
    const y = tf.tidy(() => ids.sum(1, true).mod(2).toFloat());
    losses.push(...numbersOf(await model.trainOnBatch(ids, y)));
    tf.dispose([ids, y]);
  }
  return losses;
}

describeForBackends(
  'Captured steps of a GRU of Keras',
  () => {
    it('equal those op by op', async () => {
      const tensors = tf.memory().numTensors;
      const found = await twins(modelOf, train);
      expect(found.captured.info.reason).toBeNull();
      expect(found.captured.info.captured).toBeTrue();
      expectEqual(found);
      expect(tf.memory().numTensors).toBe(tensors);
    });
  },
  ['tensorflow'],
);
