/** Models of Keras with attention, masks and operations: predictions, training steps, files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { attentionCases, inputsOf, tensorsOf, type TrainedCase } from './keras_cases.js';

const TOLERANCE = 1e-5;
/** Keras adds epsilon before the correction of the bias, TensorFlow.js after it: in a first step these are the same. */
const EPSILON = 1e-7 / Math.sqrt(1 - 0.999);
const OPTIMIZERS = {
  sgd: [() => tf.train.sgd(0.05), () => emb.train.sgd({ learningRate: 0.05 })],
  adam: [
    () => tf.train.adam(0.01, 0.9, 0.999, EPSILON),
    () => emb.train.adam({ learningRate: 0.01, epsilon: EPSILON, lazy: false }),
  ],
} as const;

type Inputs = tf.Tensor | tf.Tensor[];

function given(model: tf.LayersModel, golden: TrainedCase): Inputs {
  const byName = inputsOf(model, golden);
  const list = model.inputNames.map((name) => byName[name]!);
  return list.length === 1 ? list[0]! : list;
}

function predicted(model: tf.LayersModel, inputs: Inputs): number[][] {
  return tf.tidy(() => [model.predict(inputs)].flat().map((each) => Array.from(each.dataSync())));
}

function expectOutputs(found: readonly number[][], wanted: TrainedCase['outputs'], what: string): void {
  expect(found.length).toBe(wanted.length);
  found.forEach((values, i) => {
    const magnitudes = wanted[i]!.values.map(Math.abs);
    expectClose(values, wanted[i]!.values, magnitudes, `${what}, output ${i}`, TOLERANCE);
  });
}

/** Trains a fresh model with each optimizer and compares with Keras. */
async function expectSameSteps(golden: TrainedCase): Promise<void> {
  for (const kind of ['sgd', 'adam'] as const) {
    for (const make of OPTIMIZERS[kind]) {
      const model = await emb.loadKerasModel(golden.path);
      const [inputs, targets] = [given(model, golden), tensorsOf(golden.targets!)];
      const { after, losses } = golden.steps![kind];
      const optimizer = make();
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const step = async (): Promise<number> => {
        const told = await model.trainOnBatch(inputs, targets.length === 1 ? targets[0]! : targets);
        return [told].flat()[0] as number;
      };
      const found = [await step()];
      expectOutputs(predicted(model, inputs), after, `${golden.name}, after a step of ${kind}`);
      found.push(await step());
      // From the second step on the two kinds of epsilon differ.
      if (kind === 'sgd') found.push(await step());
      expectClose(found, losses.slice(0, found.length), losses.map(Math.abs), `losses of ${kind}`, 2e-5);
      optimizer.dispose();
      model.dispose();
      tf.dispose([inputs, targets]);
    }
  }
}

describeForBackends(
  'loadKerasModel of attention and operations',
  () => {
    for (const golden of attentionCases()) {
      it(`predicts what Keras predicts: ${golden.name}`, async () => {
        await expectNoLeakAsync(async () => {
          const model = await emb.loadKerasModel(golden.path);
          const inputs = given(model, golden);
          expectOutputs(predicted(model, inputs), golden.outputs, golden.name);
          tf.dispose(inputs);
          model.dispose();
        });
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describeForBackends(
  'models of Keras with attention',
  () => {
    for (const golden of attentionCases().filter(({ steps }) => steps !== undefined)) {
      it(`train as Keras trains: ${golden.name}`, () => expectNoLeakAsync(() => expectSameSteps(golden)));
    }
  },
  ['cpu native', 'tensorflow'],
);

describe('models of Keras with attention and operations', () => {
  let folder: string;

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'keras attention '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const golden of attentionCases()) {
    it(`come back from their own files and from those of Keras with the same bits: ${golden.name}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(golden.path);
        const inputs = given(model, golden);
        const before = predicted(model, inputs);
        const path = join(folder, golden.name);
        await model.save(`file://${path}`);
        const loaded = await tf.loadLayersModel(`file://${path}/model.json`);
        expect(predicted(loaded, inputs)).toEqual(before);
        await emb.exportKeras(loaded, `${path}.out.keras`);
        const exported = await emb.loadKerasModel(`${path}.out.keras`);
        expectOutputs(predicted(exported, inputs), golden.outputs, golden.name);
        tf.dispose(inputs);
        for (const each of [model, loaded, exported]) each.dispose();
        // TensorFlow.js counts the calls of a layer, and frees it after as many.
        for (const layer of loaded.layers as (tf.layers.Layer & { _refCount: number })[]) {
          while (layer._refCount > 0) layer.dispose();
        }
      });
    });
  }
});
