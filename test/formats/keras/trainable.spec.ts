/** What does not train stays so in files of Keras, which predictions do not show. */
import * as tf from '@tensorflow/tfjs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as emb from '../../../src/node.js';

const frozen = (layer: tf.layers.Layer): tf.layers.Layer => {
  layer.trainable = false;
  return layer;
};

const STEPWISE: Readonly<Record<string, () => tf.layers.Layer>> = {
  Dense: () => tf.layers.dense({ units: 2 }),
  BatchNormalization: () => tf.layers.batchNormalization(),
  LayerNormalization: () => tf.layers.layerNormalization(),
  PReLU: () => tf.layers.prelu(),
  Conv1D: () => tf.layers.conv1d({ filters: 2, kernelSize: 1 }),
  GRU: () => tf.layers.gru({ units: 2, returnSequences: true }),
  LSTM: () => tf.layers.lstm({ units: 2, returnSequences: true }),
  SimpleRNN: () => tf.layers.simpleRNN({ units: 2, returnSequences: true }),
  FeatureCross: () => emb.layers.featureCross({}),
};

/** Every second layer is frozen, from the first or the second one on. */
function modelOf(first: number): tf.LayersModel {
  const ids = tf.input({ shape: [3], dtype: 'int32' });
  const embedding = emb.layers.embedding({ inputDim: 5, outputDim: 2, name: 'table' });
  const layers = [embedding as tf.layers.Layer, ...Object.values(STEPWISE).map((make) => make())];
  const outputs = layers.reduce<tf.SymbolicTensor>((x, layer, i) => {
    return (i % 2 === first ? frozen(layer) : layer).apply(x) as tf.SymbolicTensor;
  }, ids);
  return tf.model({ inputs: ids, outputs });
}

const told = (model: tf.LayersModel): [string, boolean, number][] =>
  model.layers.map((layer) => [layer.name, layer.trainable, layer.trainableWeights.length]);

describe('frozen layers of exportKeras', () => {
  let folder: string;
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'frozen '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const first of [0, 1]) {
    it(`are frozen in its file, the others are not, from layer ${first} on`, async () => {
      const before = tf.memory().numTensors;
      const model = modelOf(first);
      const file = join(folder, `${first}.keras`);
      await emb.exportKeras(model, file);
      const again = await emb.loadKerasModel(file);
      const sorted = (of: tf.LayersModel): unknown => told(of).sort(([a], [b]) => (a < b ? -1 : 1));
      expect(sorted(again)).toEqual(sorted(model));
      expect(told(model).filter(([, isTrained]) => !isTrained).length).toBe(6); // with the input
      const x = tf.tensor2d([[1, 2, 3]], [1, 3], 'int32');
      const y = tf.ones([1, 3, 2]);
      again.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      const values = again.weights.map((weight) => tf.tidy(() => Array.from((weight.read() as tf.Tensor).dataSync())));
      await again.trainOnBatch(x, y);
      const trained = new Set(again.trainableWeights.map(({ name }) => name));
      again.weights.forEach((weight, i) => {
        if (trained.has(weight.name) || weight.originalName.includes('moving')) return;
        const now = tf.tidy(() => Array.from((weight.read() as tf.Tensor).dataSync()));
        expect(now).withContext(weight.name).toEqual(values[i]!);
      });
      tf.dispose([x, y]);
      (again.optimizer as tf.Optimizer).dispose();
      model.dispose();
      again.dispose();
      expect(tf.memory().numTensors).toBe(before);
    });
  }
});
