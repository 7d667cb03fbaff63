/** Graph models of the real converter, through `tf.loadGraphModel`. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { modelCases, outputsOf, sourceOf } from './graph_models.js';

describeForBackends(
  'graph models of the converter',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    for (const model of modelCases()) {
      it(`${model.name} gives what TensorFlow gives, twice`, async () => {
        await expectNoLeakAsync(async () => {
          const loaded = await tf.loadGraphModel(sourceOf(model.name));
          for (let run = 0; run < 2; run++) {
            const outputs = await outputsOf(loaded, model);
            Object.entries(model.outputs).forEach(([name, { shape, values }], i) => {
              expect(outputs[i]!.shape).withContext(name).toEqual(shape);
              expectClose(outputs[i]!.dataSync(), values, 0, name);
            });
            tf.dispose(outputs);
          }
          loaded.dispose();
        });
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
