/** Whole models in a page: how `fit` and its kin bring ids to layers, what steps cost, saving and loading. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/index.js';
import { Random } from '../../helpers/random.js';
import type { Outcome } from './models.js';

export type Feeding = 'int32' | 'float32' | 'dataset' | 'shuffled' | 'trainOnBatch' | 'ragged';

const LENGTH = 3;
const ROWS = 500;

function smallModel(): tf.LayersModel {
  const random = new Random(5);
  const shape = { inputDim: ROWS, outputDim: 8, inputShape: [LENGTH] };
  const model = tf.sequential({
    layers: [
      emb.layers.raggedEmbedding({ ...shape, combiner: 'mean', name: 'table' }) as tf.layers.Layer,
      tf.layers.dense({ units: 1, activation: 'sigmoid', name: 'head' }),
    ],
  });
  const values = model.getWeights().map(({ shape, size }) => tf.tensor(random.floats(size, -0.5, 0.5), shape));
  model.setWeights(values);
  tf.dispose(values);
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.5 }) as never, loss: 'binaryCrossentropy' });
  return model;
}

/** Examples with padding, and what is wanted of them. */
function examples(count: number): { ids: number[][]; wanted: number[][] } {
  const random = new Random(11);
  const ids = Array.from({ length: count }, () => {
    const kept = random.whole(1, LENGTH + 1);
    return Array.from({ length: LENGTH }, (_, i) => (i < kept ? random.whole(0, ROWS) : -1));
  });
  return { ids, wanted: ids.map(([first]) => [first! % 2]) };
}

/** More than tfjs keeps on the host of itself. */
const COUNT = 1500;

const FEED: Readonly<Record<Feeding, (model: tf.LayersModel) => Promise<unknown>>> = {
  int32: (model) => fitted(model, 'int32', false),
  float32: (model) => fitted(model, 'float32', false),
  shuffled: (model) => fitted(model, 'int32', true),
  async dataset(model) {
    const { ids, wanted } = examples(COUNT);
    const rows = ids.map((row, i) => ({ xs: Int32Array.from(row), ys: wanted[i]! }));
    await model.fitDataset(tf.data.array(rows as never).batch(64) as never, { epochs: 1, verbose: 0 });
  },
  async trainOnBatch(model) {
    const { ids, wanted } = examples(64);
    for (let step = 0; step < 3; step++) {
      const [x, y] = [tf.tensor2d(ids, undefined, 'int32'), tf.tensor2d(wanted)];
      await model.trainOnBatch(x, y);
      tf.dispose([x, y]);
    }
  },
  async ragged(model) {
    const { ids, wanted } = examples(300);
    const rows = emb.RaggedTensor.fromRows(
      ids.map((row) => row.filter((id) => id >= 0)),
      { dtype: 'int32' },
    );
    const y = tf.tensor2d(wanted);
    await model.fit(rows as never, y, { epochs: 1, shuffle: false, batchSize: 64, verbose: 0 });
    y.dispose();
  },
};

async function fitted(model: tf.LayersModel, dtype: 'int32' | 'float32', shuffle: boolean): Promise<void> {
  const { ids, wanted } = examples(COUNT);
  const [x, y] = [tf.tensor2d(ids, undefined, dtype), tf.tensor2d(wanted)];
  await model.fit(x, y, { epochs: 1, shuffle, batchSize: 64, verbose: 0 });
  tf.dispose([x, y]);
}

async function weightsOf(model: tf.LayersModel): Promise<Outcome> {
  const outcome: Record<string, number[]> = {};
  for (const { name, val } of model.weights as unknown as { name: string; val: tf.Variable }[]) {
    outcome[name.replace(/_\d+/g, '')] = Array.from(await val.data());
  }
  return outcome;
}

/** Trains the small model in one of these ways; tells its weights. */
export async function fedOutcome(feeding: Feeding): Promise<Outcome> {
  const model = smallModel();
  await FEED[feeding](model);
  const outcome = await weightsOf(model);
  model.dispose();
  (model.optimizer as unknown as emb.SparseOptimizer).dispose();
  return outcome;
}

export interface Readme {
  readonly losses: readonly number[];
  /** On the GPU, beyond what was there before. */
  readonly bytes: number;
  /** What the model predicted before it was saved, and after it was loaded again. */
  readonly predicted: readonly number[];
  readonly loaded: readonly number[];
  readonly tensorsLeft: number;
}

/** The model of the README, saved with its optimizer and loaded again. */
export async function readmeModel(inputDim: number, epochs: number): Promise<Readme> {
  const before = tf.memory() as unknown as { numTensors: number; numBytesInGPU: number };
  const rows = [
    [3, 7, -1],
    [5, -1, -1],
    [1, 2, 3],
    [7, -1, -1],
  ];
  const ids = tf.tensor2d(rows, [4, 3], 'int32');
  const clicked = tf.tensor2d([[1], [0], [1], [0]]);
  const model = tf.sequential({
    layers: [
      emb.layers.raggedEmbedding({ inputDim, outputDim: 32, combiner: 'mean', inputShape: [3] }) as tf.layers.Layer,
      tf.layers.dense({ units: 1, activation: 'sigmoid' }),
    ],
  });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }) as never, loss: 'binaryCrossentropy' });
  const { history } = await model.fit(ids, clicked, { epochs, verbose: 0 });
  const bytes = (tf.memory() as unknown as { numBytesInGPU: number }).numBytesInGPU - before.numBytesInGPU;
  const predict = async (of: tf.LayersModel): Promise<number[]> => {
    const given = of.predict(ids) as tf.Tensor;
    const values = Array.from(await given.data());
    given.dispose();
    return values;
  };
  const predicted = await predict(model);
  let saved: tf.io.ModelArtifacts | null = null;
  const handler = tf.io.withSaveHandler((artifacts) => {
    saved = artifacts;
    return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' as const } });
  });
  await model.save(handler, { includeOptimizer: true });
  const again = await tf.loadLayersModel(tf.io.fromMemory(saved!));
  const loaded = await predict(again);
  for (const each of [model, again]) {
    const { optimizer } = each as unknown as { optimizer?: emb.SparseOptimizer };
    each.dispose();
    optimizer?.dispose();
  }
  tf.dispose([ids, clicked]);
  return {
    losses: history['loss'] as number[],
    bytes,
    predicted,
    loaded,
    tensorsLeft: tf.memory().numTensors - before.numTensors,
  };
}

/** Takes so many small steps, of batches of other sizes each; tells tensors and bytes after a tenth and at the end. */
export async function manySteps(steps: number): Promise<{ early: number[]; late: number[] }> {
  const random = new Random(3);
  const table = tf.tidy(() => tf.variable(tf.randomUniform([2000, 8])));
  const optimizer = emb.train.adagrad({ learningRate: 0.1 });
  const memory = (): number[] => {
    const { numTensors, numBytes, numBytesInGPU, numBytesAllocatedInGPU } = tf.memory() as unknown as Record<
      string,
      number
    >;
    return [numTensors!, numBytes!, numBytesInGPU!, numBytesAllocatedInGPU ?? 0];
  };
  let early: number[] = [];
  for (let step = 0; step < steps; step++) {
    const ids = Array.from({ length: random.whole(1, 20) }, () => {
      return Array.from({ length: random.whole(1, 6) }, () => random.whole(0, 2000));
    });
    optimizer.minimize(() => tf.sum(emb.embeddingLookup(table, ids, { combiner: 'sum' }) as unknown as tf.Tensor));
    // Lets the page breathe, and the GPU catch up.
    if (step % 50 === 49) {
      const corner = table.slice([0, 0], [1, 1]);
      await corner.data();
      corner.dispose();
    }
    if (step === Math.floor(steps / 10)) early = memory();
  }
  await table.data();
  const late = memory();
  table.dispose();
  optimizer.dispose();
  return { early, late };
}
