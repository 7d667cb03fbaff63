/** Files that Keras 2 wrote after a training: what it keeps of metrics and optimizer beside the weights is no weight. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectClose } from '../../../helpers/tensors.js';

const FOLDER = fileURLToPath(new URL('../../../goldens/keras_files/trained/', import.meta.url));

describe('Trained models of Keras 2', () => {
  it('load with the predictions that they had', async () => {
    await tf.setBackend('cpu');
    const tensors = tf.memory().numTensors;
    const { x, y } = JSON.parse(readFileSync(`${FOLDER}k2_trained.json`, 'utf8')) as { x: number[][]; y: number[][] };
    const model = await emb.loadKerasModel(`${FOLDER}k2_trained.keras`);
    const found = tf.tidy(() => (model.predict(tf.tensor2d(x)) as tf.Tensor).dataSync());
    expectClose(found, y.flat(), 1);
    expect(model.getWeights().length).toBe(4);
    model.dispose();
    expect(tf.memory().numTensors).toBe(tensors);
  });
});
