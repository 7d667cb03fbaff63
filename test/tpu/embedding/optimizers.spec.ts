import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectClose } from '../../helpers/tensors.js';
import { optimizerGoldens as goldens, optimizerOf } from '../optimizer_goldens.js';
import { onCores } from './fixture.js';

const { tpu } = emb;

for (const cores of [1, 4]) {
  describe(`TPUEmbedding on ${cores} cores`, () => {
    for (const given of goldens.cases) {
      it(`steps as TensorFlow does: ${given.name}`, async () => {
        await onCores(cores, () => {
          const start = tf.tensor2d(goldens.table);
          const table = new tpu.TableConfig({
            vocabularySize: goldens.vocab,
            dim: goldens.dim,
            initializer: () => start.clone(),
            combiner: 'sum',
          });
          const featureConfig = new tpu.FeatureConfig({ table });
          const embedding = new tpu.TPUEmbedding({ featureConfig, optimizer: optimizerOf(given) });
          goldens.batches.forEach(({ ids, grads }, step) => {
            embedding.enqueue(ids);
            const activations = embedding.dequeue();
            const gradient = tf.tensor2d(grads);
            embedding.applyGradients(gradient);
            tf.dispose([activations, gradient]);
            const [values, ...slots] = embedding.getWeights();
            const expected = given.steps[step]!;
            expectClose(values!.dataSync(), expected['parameters']!.flat(), 1, `step ${step}`, 2e-6);
            given.slot_names.forEach((slot, i) => {
              expectClose(slots[i]!.dataSync(), expected[slot]!.flat(), 1, `${slot}, step ${step}`, 2e-6);
            });
            expect(slots.length).toBe(given.slot_names.length);
          });
          embedding.dispose();
          start.dispose();
        });
      });
    }
  });
}
