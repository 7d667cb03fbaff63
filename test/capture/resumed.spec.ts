/** Captured training that is saved in the middle and goes on in another model; and long training. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon } from '../../src/backends/native/addon.js';
import { casesOf } from '../forms/forms.js';
import { Random } from '../helpers/random.js';
import { ROWS, describeSteps, modelOf } from './training.js';
import { drawIds, numbersOf } from './twins.js';

/** Replays of the spec of memory. */
const REPLAYS = casesOf('TFJS_EMBEDDINGS_STEP_REPLAYS');

function compiled(model: tf.LayersModel): tf.LayersModel {
  const optimizer = emb.train.adam({ learningRate: 0.02 });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  return model;
}

/** Takes steps on batches that are the same for the same steps. */
async function takeSteps(model: tf.LayersModel, from: number, to: number, batch = 16): Promise<number[]> {
  const losses: number[] = [];
  for (let step = from; step < to; step++) {
    const x = drawIds(new Random(100 + step), batch, 2, ROWS);
    const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
    losses.push(...numbersOf(await model.trainOnBatch(x, y)));
    tf.dispose([x, y]);
  }
  return losses;
}

function valuesOf(model: tf.LayersModel): Float32Array[] {
  return model.getWeights().map((weight) => weight.dataSync<'float32'>().slice());
}

describeSteps('Captured training', () => {
  it('is the same to the bit where it is saved in the middle and goes on in a loaded model', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'resumed-steps-'));
    const model = compiled(modelOf());
    await takeSteps(model, 0, 9);
    expect(emb.stepInfo(model).captured).toBeTrue();
    await model.save(`file://${folder}`, { includeOptimizer: true });
    const losses = await takeSteps(model, 9, 20);
    const again = await tf.loadLayersModel(`file://${folder}/model.json`);
    expect(await takeSteps(again, 9, 20)).toEqual(losses);
    expect(emb.stepInfo(again)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
    expect(valuesOf(again)).toEqual(valuesOf(model));
    for (const each of [model, again]) {
      each.optimizer.dispose();
      each.dispose();
    }
    rmSync(folder, { recursive: true });
  });

  it('is so with products and sums that the graph joins and that could be rounded otherwise', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'resumed-steps-'));
    const dense = (units: number, x: tf.SymbolicTensor): tf.SymbolicTensor => {
      return tf.layers.dense({ units, activation: 'tanh' }).apply(x) as tf.SymbolicTensor;
    };
    const head = (x: tf.SymbolicTensor): tf.SymbolicTensor => {
      const hidden = tf.layers.add().apply([dense(40, x), dense(40, x), dense(40, x)]) as tf.SymbolicTensor;
      return tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(dense(33, hidden)) as tf.SymbolicTensor;
    };
    const model = compiled(modelOf(head, { outputDim: 70 }));
    await takeSteps(model, 0, 6, 190);
    await model.save(`file://${folder}`, { includeOptimizer: true });
    const losses = await takeSteps(model, 6, 14, 190);
    const again = await tf.loadLayersModel(`file://${folder}/model.json`);
    expect(await takeSteps(again, 6, 14, 190)).toEqual(losses);
    expect(valuesOf(again)).toEqual(valuesOf(model));
    for (const each of [model, again]) {
      each.optimizer.dispose();
      each.dispose();
    }
    rmSync(folder, { recursive: true });
  });

  it('takes a rate that is set after loading, where state still waits for a layer that was saved frozen', async () => {
    const optimizers = [
      emb.train.sgd({ learningRate: 0.02 }),
      emb.train.adagradMomentum({ learningRate: 0.02 }),
      emb.train.adagrad({ learningRate: 0.02 }),
      emb.train.adam({ learningRate: 0.02 }),
    ];
    for (const optimizer of optimizers) {
      const model = modelOf((x) => {
        const hidden = tf.layers.dense({ units: 4, activation: 'tanh', name: 'hidden' }).apply(x) as tf.SymbolicTensor;
        return tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(hidden) as tf.SymbolicTensor;
      });
      model.compile({ optimizer, loss: 'binaryCrossentropy' });
      await takeSteps(model, 0, 1);
      model.getLayer('hidden').trainable = false;
      let saved: tf.io.ModelArtifacts | undefined;
      const handler = tf.io.withSaveHandler((artifacts) => {
        saved = artifacts;
        return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' as const } });
      });
      await model.save(handler, { includeOptimizer: true });
      optimizer.dispose();
      model.dispose();
      const found: Float32Array[][] = [];
      for (const isCaptured of [false, true]) {
        const again = await tf.loadLayersModel(tf.io.fromMemory(saved!));
        emb.setCapture(isCaptured, again);
        await takeSteps(again, 1, 5);
        expect(emb.stepInfo(again).captured).toBe(isCaptured);
        (again.optimizer as emb.SparseOptimizer).setLearningRate(0.2);
        await takeSteps(again, 5, 8);
        found.push(valuesOf(again));
        again.optimizer.dispose();
        again.dispose();
      }
      found[0]!.forEach((expected, i) => {
        expected.forEach((value, k) => expect(Math.abs(found[1]![i]![k]! - value)).toBeLessThanOrEqual(1e-6));
      });
    }
  });

  it('holds as many tensors and graphs after many steps as after few', async () => {
    const model = compiled(modelOf());
    const x = drawIds(new Random(1), 16, 2, ROWS);
    const y = tf.ones([16, 1]);
    for (let step = 0; step < 5; step++) await model.trainOnBatch(x, y);
    const [tensors, graphs] = [tf.memory().numTensors, loadAddon().graphCount()];
    const bytes = process.memoryUsage().rss;
    for (let step = 0; step < REPLAYS; step++) await model.trainOnBatch(x, y);
    expect(tf.memory().numTensors).toBe(tensors);
    expect(loadAddon().graphCount()).toBe(graphs);
    // A copy of the smallest variables in each step would be 2 kB.
    const grown = process.memoryUsage().rss - bytes;
    expect(grown).toBeLessThan(64 * 2 ** 20 + REPLAYS * 1000);
    model.optimizer.dispose();
    model.dispose();
    tf.dispose([x, y]);
  });
});
