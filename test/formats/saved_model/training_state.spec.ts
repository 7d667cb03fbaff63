/** Training that goes on from an export, for each optimizer, where tables lie in one place and on devices. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const OPTIMIZERS: Readonly<Record<string, () => tf.Optimizer>> = {
  sgd: () => emb.train.sgd({ learningRate: 0.1 }),
  adagrad: () => emb.train.adagrad({ learningRate: 0.1 }),
  rowWiseAdagrad: () => emb.train.rowWiseAdagrad({ learningRate: 0.1 }),
  adagradMomentum: () => emb.train.adagradMomentum({ learningRate: 0.1, momentum: 0.8 }),
  adam: () => emb.train.adam({ learningRate: 0.05 }),
  'adam, not lazy': () => emb.train.adam({ learningRate: 0.05, lazy: false }),
  ftrl: () => emb.train.ftrl({ learningRate: 0.1, l1: 0.001 }),
};

function makeModel(optimizer: tf.Optimizer): tf.LayersModel {
  const tables = emb.layers.distributedEmbedding({
    embeddings: [
      {
        name: 'rows',
        inputDim: 64,
        outputDim: 4,
        combiner: 'mean',
        seed: 1,
      },
      {
        name: 'whole',
        inputDim: 5,
        outputDim: 2,
        combiner: 'sum',
        seed: 2,
      },
    ],
    rowSliceThreshold: 200,
  });
  const inputs = [tf.input({ shape: [3], dtype: 'int32' }), tf.input({ shape: [2], dtype: 'int32' })];
  const looked = tables.apply(inputs as never) as unknown as tf.SymbolicTensor[];
  const joined = tf.layers.concatenate().apply(looked) as tf.SymbolicTensor;
  const dense = tf.layers.dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: 3 }) });
  const model = tf.model({ inputs, outputs: dense.apply(joined) as tf.SymbolicTensor });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

async function train(model: tf.LayersModel, from: number, to: number): Promise<void> {
  for (let step = from; step < to; step++) {
    const a = tf.tensor2d(
      Array.from({ length: 12 }, (_, i) => (i * 7 + step * 5) % 64),
      [4, 3],
      'int32',
    );
    const b = tf.tensor2d(
      Array.from({ length: 8 }, (_, i) => (i + step) % 5),
      [4, 2],
      'int32',
    );
    const y = tf.tensor2d([1, 0, 0, 1], [4, 1]);
    await model.trainOnBatch([a, b], y);
    tf.dispose([a, b, y]);
  }
}

function weightsOf(model: tf.LayersModel): number[][] {
  return model.weights.map((weight) => Array.from(weight.read().dataSync()));
}

function dispose(model: tf.LayersModel): void {
  model.optimizer.dispose();
  model.dispose();
}

/** Trains seven steps in one go, and three here and four after an export and a load; expects the same bits. */
async function compare(make: () => tf.Optimizer, directory: string): Promise<void> {
  const before = tf.memory().numTensors;
  const [straight, first] = [makeModel(make()), makeModel(make())];
  await train(straight, 0, 7);
  await train(first, 0, 3);
  await emb.savedModel.export(first, directory, { includeOptimizer: true });
  const again = (await emb.savedModel.load(directory)) as tf.LayersModel;
  expect(weightsOf(again)).toEqual(weightsOf(first));
  await train(again, 3, 7);
  expect(weightsOf(again)).toEqual(weightsOf(straight));
  expect(weightsOf(again)).not.toEqual(weightsOf(first));
  [straight, first, again].forEach(dispose);
  expect(tf.memory().numTensors).toBe(before);
}

describe('an export with its optimizer', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'state-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, make] of Object.entries(OPTIMIZERS)) {
    describeForBackends('goes on training bit for bit', () => it(name, () => compare(make, join(folder, 'model'))), [
      'cpu native',
      'tensorflow',
    ]);

    it(`goes on training bit for bit [tpu-emulator] ${name}`, async () => {
      await withTpuEmulator({ chips: 4 }, () => compare(make, join(folder, 'model')));
    });
  }
});
