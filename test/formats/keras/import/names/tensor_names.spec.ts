/** Files of Keras whose layers have names that TensorFlow.js does not take. */
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../../src/node.js';
import { tensorName, tensorNames } from '../../../../../src/formats/keras/import/names/tensor_names.js';

const path = (name: string): string =>
  fileURLToPath(new URL(`../../../../goldens/keras_files/names/${name}`, import.meta.url));
/** What Keras computes of ones. */
const EXPECTED = -0.6332597732543945;

describe('names of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  for (const file of ['names3.keras', 'names3.h5']) {
    it(`with spaces and umlauts load, and inputs are given by them: ${file}`, async () => {
      const before = tf.memory().numTensors;
      const model = await emb.loadKerasModel(path(file));
      expect(model.inputNames).toEqual(['Gr.f6..df.e_in_cm', 'user_id']);
      const x = tf.ones([1, 2]);
      const results = [
        model.predict([x, x]),
        model.predict({ 'Größe in cm': x, 'user id': x }),
        model.predict({ 'Gr.f6..df.e_in_cm': x, user_id: x }),
      ] as tf.Tensor[];
      for (const result of results) expect(result.dataSync()[0]).toBeCloseTo(EXPECTED, 6);
      tf.dispose([x, results]);
      model.dispose();
      expect(tf.memory().numTensors).toBe(before);
    });
  }

  it('stay as they are where TensorFlow.js takes them, and stay apart', () => {
    expect(['a/b-1.c_2', 'user id', '_x', 'ä', ''].map(tensorName)).toEqual([
      'a/b-1.c_2',
      'user_id',
      'n_x',
      'n.e4.',
      'n',
    ]);
    const names = tensorNames(['user id', 'user_id', 'user_id_1', 'user  id']);
    expect([...names.values()]).toEqual(['user_id_2', 'user_id', 'user_id_1', 'user__id']);
  });
});
