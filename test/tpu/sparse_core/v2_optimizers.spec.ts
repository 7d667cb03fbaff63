/** TPUEmbeddingV2 steps tables and slots as TensorFlow's equations do, whatever the optimizer. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectClose } from '../../helpers/tensors.js';
import { optimizerGoldens as goldens, optimizerOf } from '../optimizer_goldens.js';
import type { AnyV2 } from './batches.js';
import { onCores } from './v2_on_cores.js';

const { tpu } = emb;

const MACHINES = [
  { chips: 1, coresPerChip: 1 },
  { chips: 2, coresPerChip: 2 },
];

for (const machine of MACHINES) {
  const cores = machine.chips * machine.coresPerChip;
  describe(`TPUEmbeddingV2 on ${cores} cores`, () => {
    for (const given of goldens.cases) {
      it(`steps as TensorFlow does: ${given.name}`, async () => {
        await onCores(machine, () => {
          const { vocab: vocabularySize, dim } = goldens;
          const start = tf.tensor2d(goldens.table);
          const initializer = (): tf.Tensor => start.clone();
          const table = new tpu.TableConfig({ vocabularySize, dim, initializer, combiner: 'sum' });
          const featureConfig = new tpu.FeatureConfig({ table, outputShape: [goldens.batches[0]!.ids.length] });
          const embedding: AnyV2 = new tpu.TPUEmbeddingV2({ featureConfig, optimizer: optimizerOf(given) });
          goldens.batches.forEach(({ ids, grads }, step) => {
            const [activations, preserved] = embedding.embeddingLookup(ids);
            const gradient = tf.tensor2d(grads);
            embedding.applyGradients(gradient, preserved);
            const weights = embedding.getWeights();
            const [values, ...slots] = weights;
            const expected = given.steps[step]!;
            expectClose(values!.dataSync(), expected['parameters']!.flat(), 1, `step ${step}`, 2e-6);
            given.slot_names.forEach((slot, i) => {
              expectClose(slots[i]!.dataSync(), expected[slot]!.flat(), 1, `${slot}, step ${step}`, 2e-6);
            });
            expect(slots.length).toBe(given.slot_names.length);
            tf.dispose([activations as tf.Tensor, gradient, ...weights]);
          });
          embedding.dispose();
          start.dispose();
        });
      });
    }
  });
}
