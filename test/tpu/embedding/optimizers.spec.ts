import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectClose } from '../../helpers/tensors.js';
import { camelCase, readGoldens } from '../goldens.js';
import { onCores, type Optimizer } from './fixture.js';

const { tpu } = emb;

interface Case {
  readonly name: string;
  readonly optimizer: 'sgd' | 'adagrad' | 'adagrad_momentum' | 'adam' | 'ftrl';
  readonly learning_rate: number;
  readonly hyper: Record<string, unknown>;
  readonly slots_initial: Record<string, number>;
  readonly slot_names: string[];
  readonly clip_w?: [number, number];
  readonly clip_g?: [number, number];
  readonly steps: Record<string, number[][]>[];
}
interface Goldens {
  readonly vocab: number;
  readonly dim: number;
  readonly table: number[][];
  readonly batches: { ids: number[]; grads: number[][] }[];
  readonly cases: Case[];
}

const goldens = readGoldens<Goldens>('optimizers');
const CLASSES = {
  sgd: tpu.SGD,
  adagrad: tpu.Adagrad,
  adagrad_momentum: tpu.AdagradMomentum,
  adam: tpu.Adam,
  ftrl: tpu.FTRL,
};

function optimizerOf({ optimizer, learning_rate, hyper, slots_initial, clip_w, clip_g }: Case): Optimizer {
  const accumulators = slots_initial['accumulators'];
  const start = ['adagrad', 'ftrl'].includes(optimizer) ? { initialAccumulatorValue: accumulators } : {};
  const limits = { clipWeightMin: clip_w?.[0], clipWeightMax: clip_w?.[1], clipvalue: clip_g };
  const args = { ...camelCase(hyper), ...start, ...limits, learningRate: learning_rate };
  return new (CLASSES[optimizer] as new (args: object) => Optimizer)(args);
}

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
