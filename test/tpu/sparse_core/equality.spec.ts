/** TPUEmbeddingV2 and plain layers train the same model to the same tables, on any number of cores. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import * as tpu from 'tfjs-embeddings/tpu';
import { Random } from '../../helpers/random.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { farthest, featureConfig, randomStep, startWeights, trainPlain, trainV2 } from './batches.js';

const STEPS = 20;
const TOLERANCE = 1e-5;
const MACHINES = [
  { chips: 1, coresPerChip: 1 },
  { chips: 2, coresPerChip: 2 },
  { chips: 1, coresPerChip: 8 },
];
const rate = { learningRate: 0.1 };
const adam = { ...rate, beta1: 0.8, beta2: 0.95, epsilon: 1e-3, biasCorrection: false, sumInsideSqrt: true };
const tpuAdam = { ...rate, beta1: 0.8, beta2: 0.95, epsilon: 1e-3 };

/** Each TPU optimizer beside what is the same for plain layers. */
const OPTIMIZERS: Record<string, { v2: () => tpu.TPUEmbeddingOptimizer; plain: () => tf.Optimizer }> = {
  SGD: { v2: () => new tpu.SGD(rate), plain: () => emb.train.sgd(rate) },
  Adagrad: {
    v2: () => new tpu.Adagrad({ ...rate, initialAccumulatorValue: 0.2 }),
    plain: () => emb.train.adagrad({ ...rate, initialAccumulatorValue: 0.2, epsilon: 0 }),
  },
  AdagradMomentum: {
    v2: () => new tpu.AdagradMomentum({ ...rate, momentum: 0.7, useNesterov: true, beta2: 0.9, epsilon: 1e-3 }),
    plain: () =>
      emb.train.adagradMomentum({
        ...rate,
        momentum: 0.7,
        useNesterov: true,
        exponent: 2,
        beta2: 0.9,
        epsilon: 1e-3,
        initialAccumulatorValue: 0,
      }),
  },
  Adam: { v2: () => new tpu.Adam(tpuAdam), plain: () => emb.train.adam(adam) },
  'Adam, not lazy': {
    v2: () => new tpu.Adam({ ...tpuAdam, lazyAdam: false }),
    plain: () => emb.train.adam({ ...adam, lazy: false }),
  },
  FTRL: {
    v2: () => new tpu.FTRL({ ...rate, l1RegularizationStrength: 0.01, l2RegularizationStrength: 0.02, beta: 0.3 }),
    plain: () => emb.train.ftrl({ ...rate, initialAccumulatorValue: 0.1, l1: 0.01, l2: 0.02, beta: 0.3 }),
  },
  'SGD with limits and decay': {
    v2: () =>
      new tpu.SGD({ ...rate, clipvalue: 0.3, clipWeightMin: -0.5, clipWeightMax: 0.6, weightDecayFactor: 0.01 }),
    plain: () =>
      emb.train.sgd({ ...rate, clipValue: [-0.3, 0.3], clipWeightMin: -0.5, clipWeightMax: 0.6, weightDecay: 0.01 }),
  },
  CustomOptimizer: {
    v2: () =>
      new tpu.CustomOptimizer({
        ...rate,
        customComputation: ({ gradient, parameters, slots, learningRate }) => {
          const accumulators = slots['sums']!.add(gradient.square());
          return {
            parameters: parameters.sub(gradient.mul(learningRate).div(accumulators.sqrt())),
            slots: { sums: accumulators },
          };
        },
        slotNames: ['sums'],
        slotInitializers: [0.1],
      }),
    plain: () => emb.train.adagrad({ ...rate, initialAccumulatorValue: 0.1, epsilon: 0 }),
  },
};

describe('TPUEmbeddingV2 and plain layers', () => {
  for (const [name, { v2, plain }] of Object.entries(OPTIMIZERS)) {
    it(`train the same tables with ${name} on 1, 4 and 8 cores`, async () => {
      const random = new Random(5);
      const start = startWeights(random);
      const steps = Array.from({ length: STEPS }, () => randomStep(random));
      const before = tf.memory().numTensors;
      const expected = trainPlain(start, steps, plain());
      expect(tf.memory().numTensors).toBe(before);
      for (const machine of MACHINES) {
        await withTpuEmulator(machine, () => {
          const had = tf.memory().numTensors;
          const embedding = new tpu.TPUEmbeddingV2({ featureConfig: featureConfig(), optimizer: v2() });
          const found = trainV2(embedding, start, steps);
          embedding.dispose();
          expect(tf.memory().numTensors).toBe(had);
          expect(farthest(found.a, expected.a)).withContext(JSON.stringify(machine)).toBeLessThan(TOLERANCE);
          expect(farthest(found.b, expected.b)).withContext(JSON.stringify(machine)).toBeLessThan(TOLERANCE);
        });
      }
    });
  }
});
