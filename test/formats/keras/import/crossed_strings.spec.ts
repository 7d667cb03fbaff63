/** Files of Keras that cross inputs of strings: see test/goldens/keras_files/gen_crossed.py. */
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../../helpers/tensors.js';

const FILE = fileURLToPath(new URL('../../../goldens/keras_files/k3_crossed.keras', import.meta.url));
const ROWS = [
  { city: 'Ulm', day: 'Mo' },
  { city: 'Bonn', day: 'Di' },
  { city: '', day: 'Mo' },
];

describeForBackends(
  'HashedCrossing of strings in a file of Keras',
  () => {
    it('becomes columns of the pipeline, whose ids and vectors are those of Keras', async () => {
      await expectNoLeakAsync(async () => {
        const model = (await emb.loadKerasModel(FILE)) as emb.NamedInputsModel & {
          pipeline: emb.preprocessing.Pipeline;
        };
        expect(model.inputNames).toEqual(['pair', 'hot']);
        const x = model.pipeline.apply(ROWS) as tf.NamedTensorMap;
        const y = model.predict(x) as tf.Tensor;
        expectClose(await y.data(), [0.05106492340564728, 0.09907695651054382, -0.0349527969956398], 0, 'rows');
        tf.dispose([x, y]);
        model.dispose();
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
