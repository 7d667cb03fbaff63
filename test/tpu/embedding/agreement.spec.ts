import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { Random } from '../../helpers/random.js';
import { expectClose } from '../../helpers/tensors.js';
import { onCores, sparse, type Optimizer } from './fixture.js';

const { tpu } = emb;

const STEPS = 20;
const BATCH = 8;
const ROWS = 11;
const DIM = 5;
const COMBINERS: readonly emb.Combiner[] = ['sum', 'mean', 'sqrtn'];

/** Each optimizer, and the same among those for plain layers. */
const OPTIMIZERS: [name: string, tpu: () => Optimizer, plain: () => tf.Optimizer][] = [
  [
    'SGD, clipped and decaying',
    () => new tpu.SGD({ learningRate: 0.1, clipvalue: 0.3, clipWeightMax: 0.4, weightDecayFactor: 0.01 }),
    () => emb.train.sgd({ learningRate: 0.1, clipValue: 0.3, clipWeightMax: 0.4, weightDecay: 0.01 }),
  ],
  ['Adagrad', () => new tpu.Adagrad({ learningRate: 0.1 }), () => emb.train.adagrad({ learningRate: 0.1, epsilon: 0 })],
  [
    'AdagradMomentum',
    () => new tpu.AdagradMomentum({ learningRate: 0.1, momentum: 0.9, useNesterov: true, beta2: 0.9, epsilon: 0.1 }),
    () => emb.train.adagradMomentum({ learningRate: 0.1, momentum: 0.9, useNesterov: true, beta2: 0.9, epsilon: 0.1 }),
  ],
  [
    'Adam',
    () => new tpu.Adam({ learningRate: 0.1 }),
    () => emb.train.adam({ learningRate: 0.1, biasCorrection: false, sumInsideSqrt: true }),
  ],
  [
    'Adam that is not lazy',
    () => new tpu.Adam({ learningRate: 0.1, lazyAdam: false }),
    () => emb.train.adam({ learningRate: 0.1, biasCorrection: false, sumInsideSqrt: true, lazy: false }),
  ],
  [
    'FTRL',
    () => new tpu.FTRL({ learningRate: 0.1, l1RegularizationStrength: 0.01, beta: 0.1 }),
    () => emb.train.ftrl({ learningRate: 0.1, l1: 0.01, beta: 0.1 }),
  ],
];

interface Step {
  readonly ids: number[][];
  readonly gradient: number[][];
}

function makeSteps(): Step[] {
  const random = new Random(7);
  const matrix = (columns: number, draw: () => number): number[][] =>
    Array.from({ length: BATCH }, () => Array.from({ length: columns }, draw));
  return Array.from({ length: STEPS }, () => ({
    ids: matrix(3, () => random.whole(0, ROWS)),
    gradient: matrix(DIM, () => random.next() - 0.5),
  }));
}

const START = ((random) => Array.from({ length: ROWS }, () => Array.from({ length: DIM }, () => random.next() - 0.5)))(
  new Random(3),
);

/** The table of a plain layer after all steps. */
function plain(steps: readonly Step[], combiner: emb.Combiner, optimizer: tf.Optimizer): number[] {
  const layer = emb.layers.embedding({ inputDim: ROWS, outputDim: DIM, combiner, weights: [START] });
  for (const { ids, gradient } of steps) {
    tf.tidy(() => {
      const given = tf.tensor2d(gradient);
      const input = tf.tensor2d(ids, undefined, 'int32');
      optimizer.minimize(() => (layer.apply(input) as tf.Tensor).mul(given).sum());
    });
  }
  const values = [...layer.getWeights()[0]!.dataSync()];
  layer.dispose();
  optimizer.dispose();
  return values;
}

function onTpu(steps: readonly Step[], combiner: emb.Combiner, optimizer: Optimizer): number[] {
  const initializer = (): tf.Tensor => tf.tensor2d(START);
  const table = new tpu.TableConfig({ vocabularySize: ROWS, dim: DIM, combiner, initializer });
  const embedding = new tpu.TPUEmbedding({ featureConfig: new tpu.FeatureConfig({ table }), optimizer });
  for (const { ids, gradient } of steps) {
    embedding.enqueue(sparse(ids));
    const given = tf.tensor2d(gradient);
    embedding.dequeue().dispose();
    embedding.applyGradients(given);
    given.dispose();
  }
  const values = [...embedding.embeddingTables.get(table)!.dataSync()];
  embedding.dispose();
  return values;
}

/** The same by TPUEmbeddingV2. */
function onSparseCores(steps: readonly Step[], combiner: emb.Combiner, optimizer: Optimizer): number[] {
  const initializer = (): tf.Tensor => tf.tensor2d(START);
  const table = new tpu.TableConfig({ vocabularySize: ROWS, dim: DIM, combiner, initializer });
  const featureConfig = new tpu.FeatureConfig({ table, outputShape: [BATCH] });
  const embedding = new tpu.TPUEmbeddingV2({ featureConfig, optimizer });
  for (const { ids, gradient } of steps) {
    const [activations, preserved] = embedding.embeddingLookup(sparse(ids));
    const given = tf.tensor2d(gradient);
    embedding.applyGradients(given, preserved);
    tf.dispose([activations, given]);
  }
  const weights = embedding.getWeights();
  const values = [...weights[0]!.dataSync()];
  tf.dispose(weights);
  embedding.dispose();
  return values;
}

describe('TPUEmbedding, TPUEmbeddingV2 and plain layers', () => {
  beforeAll(() => tf.setBackend('cpu'));

  OPTIMIZERS.forEach(([name, tpuOptimizer, plainOptimizer], i) => {
    const combiner = COMBINERS[i % 3]!;
    it(`train to the same table over ${STEPS} steps on 1, 4 and 8 cores: ${name}, ${combiner}`, async () => {
      const steps = makeSteps();
      const expected = plain(steps, combiner, plainOptimizer());
      expect(expected).not.toEqual(START.flat());
      for (const cores of [1, 4, 8]) {
        await onCores(cores, () => {
          for (const train of [onTpu, onSparseCores]) {
            const values = train(steps, combiner, tpuOptimizer());
            expectClose(values, expected, expected.map(Math.abs), `${train.name}, ${cores} cores`, 1e-5);
          }
        });
      }
    });
  });
});
