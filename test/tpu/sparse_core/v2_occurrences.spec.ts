/** Steps without gradient accumulation: those of SparseCores are those of TPUEmbedding, on any number of cores. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { expectClose } from '../../helpers/tensors.js';
import type { AnyV2 } from './batches.js';
import { onCores } from './v2_on_cores.js';

const { tpu } = emb;

type AnyV1 = emb.tpu.TPUEmbedding<emb.tpu.FeatureConfig[]>;

const [SAMPLES, ROWS, DIM, STEPS] = [8, 5, 3, 3];
const options = { learningRate: 0.3, useGradientAccumulation: false } as const;

const OPTIMIZERS: Readonly<Record<string, () => emb.tpu.TPUEmbeddingOptimizer>> = {
  Adagrad: () => new tpu.Adagrad(options),
  'Adam that decays': () => new tpu.Adam({ ...options, weightDecayFactor: 0.1 }),
  FTRL: () => new tpu.FTRL({ ...options, l1RegularizationStrength: 0.01 }),
  'SGD within limits': () => new tpu.SGD({ ...options, clipWeightMin: -0.25, clipWeightMax: 0.25 }),
};

const random = new Random(23);
const start = [0, 1].map(() => [...random.floats(ROWS * DIM)]);
/** Few rows and many ids: they repeat in a sample, side by side and apart, in a feature and in several. */
const batches = Array.from({ length: STEPS }, () => {
  const ids = [0, 1, 2].map(() =>
    Array.from({ length: SAMPLES }, () => Array.from({ length: random.whole(0, 6) }, () => random.whole(0, ROWS))),
  );
  const weights = ids.map((rows) => rows.map((row) => row.map(() => random.whole(1, 5) / 4)));
  return { ids, weights, gradients: ids.map(() => [...random.floats(SAMPLES * DIM)]) };
});

/** Two tables of one stack; the first one has two features, and the feature of the other lies between them. */
function configs(): emb.tpu.FeatureConfig[] {
  const tables = (['sum', 'mean'] as const).map((combiner, i) => {
    const initializer = (): tf.Tensor => tf.tensor2d(start[i]!, [ROWS, DIM]);
    return new tpu.TableConfig({ vocabularySize: ROWS, dim: DIM, combiner, name: `t${i}`, initializer });
  });
  return [0, 1, 0].map((i) => new tpu.FeatureConfig({ table: tables[i]!, outputShape: [SAMPLES] }));
}

const ragged = (rows: number[][], dtype: 'int32' | 'float32' = 'int32'): emb.RaggedTensor =>
  emb.RaggedTensor.fromRows(rows, { dtype });

const gradientsOf = (values: number[][]): tf.Tensor[] => values.map((each) => tf.tensor2d(each, [SAMPLES, DIM]));

function read(weights: tf.Tensor[]): Float32Array[] {
  const values = weights.map((each) => each.dataSync<'float32'>().slice());
  tf.dispose(weights);
  return values;
}

function stepped(embedding: AnyV1, withWeights: boolean): Float32Array[] {
  for (const { ids, weights, gradients } of batches) {
    const given = withWeights ? weights.map((rows) => ragged(rows, 'float32')) : null;
    embedding.enqueue(
      ids.map((rows) => ragged(rows)),
      given,
    );
    const own = gradientsOf(gradients);
    tf.dispose(embedding.dequeue() as tf.Tensor[]);
    embedding.applyGradients(own);
    tf.dispose(own);
  }
  const found = read(embedding.getWeights());
  embedding.dispose();
  return found;
}

function steppedV2(embedding: AnyV2, withWeights: boolean): Float32Array[] {
  for (const { ids, weights, gradients } of batches) {
    const given = withWeights ? weights.map((rows) => ragged(rows, 'float32')) : null;
    const inputs = ids.map((rows) => ragged(rows));
    const [activations, preserved] = embedding.embeddingLookup(inputs, given);
    const own = gradientsOf(gradients);
    embedding.applyGradients(own, preserved);
    tf.dispose([activations as tf.Tensor[], own]);
  }
  const found = read(embedding.getWeights());
  embedding.dispose();
  return found;
}

/** One step of a layer; ids are padded, gradients are those of the activations times constants. */
function steppedLayer(version: 1 | 2, optimizer: emb.tpu.TPUEmbeddingOptimizer): Float32Array[] {
  const featureConfig = configs().map(({ table }) => new tpu.FeatureConfig({ table }));
  const layer = emb.layers.tpuEmbedding({ featureConfig, optimizer, version });
  const { ids, gradients } = batches[0]!;
  const inputs = ids.map((rows) => ragged(rows).toPadded({ defaultValue: -1 }));
  const factors = gradientsOf(gradients);
  tf.dispose(layer.apply(inputs) as tf.Tensor[]);
  const { value, grads } = tf.variableGrads(() => {
    const found = layer.apply(inputs, { training: true }) as tf.Tensor[];
    return tf.addN(found.map((each, i) => tf.sum(tf.mul(each, factors[i]!)))) as tf.Scalar;
  });
  tf.dispose([value, grads, inputs, factors]);
  const found = layer.getWeights().map((each) => each.dataSync<'float32'>().slice());
  layer.dispose();
  return found;
}

const MACHINES = [
  { chips: 1, coresPerChip: 1 },
  { chips: 2, coresPerChip: 1 },
  { chips: 2, coresPerChip: 4 },
];

for (const [name, make] of Object.entries(OPTIMIZERS)) {
  describe(`Steps of each occurrence, ${name}`, () => {
    for (const withWeights of [false, true]) {
      it(`of TPUEmbeddingV2 are those of TPUEmbedding${withWeights ? ', with weights' : ''}`, async () => {
        for (const machine of MACHINES) {
          await onCores(machine, () => {
            const expected = stepped(
              new tpu.TPUEmbedding({ featureConfig: configs(), optimizer: make() }) as unknown as AnyV1,
              withWeights,
            );
            const found = steppedV2(
              new tpu.TPUEmbeddingV2({ featureConfig: configs(), optimizer: make() }) as unknown as AnyV2,
              withWeights,
            );
            expect(found.length).toBe(expected.length);
            found.forEach((values, i) => {
              expectClose(values, [...expected[i]!], 10, `weight ${i}, ${JSON.stringify(machine)}`, 2e-6);
            });
          });
        }
      });
    }

    it('of the layer are the same in both versions', async () => {
      for (const machine of MACHINES) {
        await onCores(machine, () => {
          const [one, two] = ([1, 2] as const).map((version) => steppedLayer(version, make()));
          expect(two!.length).toBe(one!.length);
          two!.forEach((values, i) => {
            expectClose(values, [...one![i]!], 10, `weight ${i}, ${JSON.stringify(machine)}`, 2e-6);
          });
        });
      }
    });
  });
}

describe('Limits of steps of each occurrence', () => {
  it('count repeated ids, and so do their statistics', async () => {
    await onCores({ chips: 1, coresPerChip: 2 }, () => {
      const optimizer = OPTIMIZERS['Adagrad']!();
      const table = new tpu.TableConfig({ vocabularySize: 4, dim: 1, combiner: 'sum', name: 't' });
      const featureConfig = new tpu.FeatureConfig({ table, outputShape: [2] });
      const features = ragged([[2, 2, 0, 2], [1]]);
      const machine = { numTpuChips: 1, numScPerChip: 2 };
      const stats = tpu.TPUEmbeddingV2.computeSparseCoreStats({ features, featureConfig, optimizer, ...machine });
      expect(stats).toEqual({ maxIds: { t: 4 }, maxUniqueIds: { t: 2 } });
      for (const [most, fits] of [
        [4, true],
        [3, false],
      ] as const) {
        const limits = { maxIdsPerTable: { t: most }, maxUniqueIdsPerTable: { t: 2 } };
        const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig(limits);
        const embedding = new tpu.TPUEmbeddingV2({ featureConfig, optimizer, sparseCoreEmbeddingConfig });
        if (fits) expect(() => embedding.enqueue(features)).not.toThrow();
        else expect(() => embedding.enqueue(features)).toThrowError(/maxIdsPerTable/);
        embedding.dispose();
      }
    });
  });
});
