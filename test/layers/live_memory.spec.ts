/** Reading a table never hands out live memory, from the moment the layer is built. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';

describeForBackends('a table that is read', () => {
  it('does not change when what was read is written, before and after steps', async () => {
    const before = tf.memory().numTensors;
    const layer = emb.layers.embedding({ inputDim: 5, outputDim: 2, combiner: 'sum', inputShape: [1] });
    const model = tf.sequential({ layers: [layer] });
    const optimizer = emb.train.sgd({ learningRate: 0.5 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const given = new Float32Array(10).fill(3);
    const check = async (): Promise<void> => {
      const [table] = layer.getWeights() as [tf.Tensor];
      const values = Array.from(table.dataSync());
      (table.dataSync() as Float32Array).fill(77);
      ((await table.data()) as Float32Array).fill(78);
      given.fill(79);
      expect(Array.from(table.dataSync())).toEqual(values);
    };
    await check();
    const weights = tf.tensor2d(given.fill(3), [5, 2]);
    layer.setWeights([weights]);
    await check();
    weights.dispose();
    await check();
    const [x, y] = [tf.tensor2d([[1], [4]], [2, 1], 'int32'), tf.zeros([2, 2])];
    await model.trainOnBatch(x, y);
    await check();
    tf.dispose([x, y]);
    model.dispose();
    optimizer.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
