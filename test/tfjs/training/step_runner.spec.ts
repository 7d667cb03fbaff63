/** Who runs steps: what captures them is asked on its own backend alone. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { runnerInUse, stepRunner, type StepRunner } from '../../../src/tfjs/training/step_runner.js';

const OF_STEPS = [
  'takesRows',
  'run',
  'runRows',
  'evaluate',
  'predicts',
  'predict',
] as const satisfies (keyof StepRunner)[];

describe('steps of a backend that captures none', () => {
  it('are those of tfjs, while what becomes of models is told', async () => {
    await tf.ready();
    const before = tf.getBackend();
    await tf.setBackend('cpu');
    const tensors = tf.memory().numTensors;
    expect(runnerInUse()).toBeNull();
    const runner = stepRunner()!;
    expect(runner.backend).toBe('tensorflow');
    const spies = OF_STEPS.map((name) => spyOn(runner, name).and.callThrough());
    const told = (['compiled', 'fitted', 'disposed'] as const).map((name) => spyOn(runner, name).and.callThrough());
    const layer = emb.layers.embedding({ inputDim: 5, outputDim: 2, combiner: 'sum', inputShape: [2] });
    const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'binaryCrossentropy' });
    const [x, y] = [tf.zeros([4, 2], 'int32'), tf.ones([4, 1])];
    await model.trainOnBatch(x, y);
    tf.dispose([model.evaluate(x, y), model.predict(x), model.predictOnBatch(x)].flat());
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    // Once in a fit, it may say that rows are taken by an op.
    await model.fit(x, y, { epochs: 2, verbose: 0 });
    expect(spies.map((spy) => spy.calls.count())).toEqual([1, 0, 0, 0, 0, 0]);
    model.dispose();
    for (const spy of told) expect(spy).toHaveBeenCalled();
    optimizer.dispose();
    tf.dispose([x, y]);
    expect(tf.memory().numTensors).toBe(tensors);
    await tf.setBackend(before);
  });
});
