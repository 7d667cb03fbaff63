/** Models of Keras files take inputs by name, and their steps are captured as those of models built here. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-node';
import * as emb from '../../../../src/node.js';

describe('a model loaded from a Keras file', () => {
  let folder: string;
  beforeAll(async () => {
    await tf.setBackend('tensorflow');
    folder = mkdtempSync(join(tmpdir(), 'named-predict-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has its predictions and steps captured, with inputs by name, and gives the bits of the model it was made from', async () => {
    const before = tf.memory().numTensors;
    const users = tf.input({ shape: [1], dtype: 'int32', name: 'user' });
    const items = tf.input({ shape: [3], dtype: 'int32', name: 'item' });
    const parts = [
      emb.layers.embedding({ inputDim: 40, outputDim: 4, combiner: 'sum' }).apply(users),
      emb.layers.embedding({ inputDim: 20, outputDim: 4, combiner: 'mean' }).apply(items),
    ] as tf.SymbolicTensor[];
    const score = tf.layers.dense({ units: 1 }).apply(tf.layers.concatenate().apply(parts)) as tf.SymbolicTensor;
    const model = tf.model({ inputs: [users, items], outputs: score });
    const file = join(folder, 'model.keras');
    await emb.exportKeras(model, file);
    const loaded = await emb.loadKerasModel(file);
    const given = {
      user: tf.tensor2d([[7], [32]], [2, 1], 'int32'),
      item: tf.tensor2d([1, 2, 3, 4, 4, 9], [2, 3], 'int32'),
    };
    for (let call = 0; call < 3; call++) {
      const [wanted, found] = tf.tidy(() => {
        const each = [model.predict([given.user, given.item]), loaded.predict(given)] as tf.Tensor[];
        return each.map((output) => [...output.dataSync()]);
      });
      expect(found).toEqual(wanted!);
    }
    expect(emb.stepInfo(loaded)).toEqual(jasmine.objectContaining({ captured: true, reason: null }));

    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    loaded.compile({ optimizer, loss: 'meanSquaredError' });
    const labels = tf.ones([2, 1]);
    await loaded.fit([given.user, given.item], labels, { epochs: 3, verbose: 0 });
    expect(emb.stepInfo(loaded).reason).toBeNull();
    optimizer.dispose();
    model.dispose();
    loaded.dispose();
    tf.dispose([given.user, given.item, labels]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
