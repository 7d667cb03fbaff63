/** Which kinds of steps a model keeps the graphs of, and what makes a kind. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../src/backends/native/addon.js';
import { kindOf } from '../../src/capture/signatures.js';
import { Random } from '../helpers/random.js';
import { ROWS, describeSteps, expectCaptured, modelOf, trainTwins } from './training.js';
import { drawIds, expectEqual, numbersOf, twins } from './twins.js';

const MOST = 16;
const compiled = (): tf.LayersModel => {
  const model = modelOf();
  model.compile({ optimizer: emb.train.adam({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
};
const end = (model: tf.LayersModel): void => {
  model.optimizer.dispose();
  model.dispose();
};

describeSteps('Kinds of captured steps', () => {
  let warnings: jasmine.Spy;
  beforeEach(() => (warnings = spyOn(console, 'warn')));

  /** Trains `steps` steps on batches of `size`. */
  const train = async (model: tf.LayersModel, size: number, steps = 3): Promise<emb.StepInfo> => {
    const [x, y] = [tf.zeros([size, 2], 'int32'), tf.zeros([size, 1])];
    for (let step = 0; step < steps; step++) await model.trainOnBatch(x, y);
    tf.dispose([x, y]);
    return emb.stepInfo(model);
  };

  it('are the 16 used last: the one not used for longest gives way, with one warning', async () => {
    const [model, graphs] = [compiled(), loadAddon().graphCount()];
    for (let size = 1; size <= MOST; size++) await train(model, size);
    expect(warnings).not.toHaveBeenCalled();
    expect(await train(model, 1, 1)).toEqual({ captured: true, reason: null, signatures: MOST, evictions: 0 });
    expect(await train(model, 20)).toEqual({ captured: true, reason: null, signatures: MOST, evictions: 1 });
    expect(await train(model, 1, 1))
      .withContext('used lately')
      .toEqual({ captured: true, reason: null, signatures: MOST, evictions: 1 });
    expect(await train(model, 2, 2))
      .withContext('a step op by op, and one recorded')
      .toEqual({ captured: true, reason: null, signatures: MOST - 1, evictions: 2 });
    expect((await train(model, 2, 1)).signatures).toBe(MOST);
    expect(loadAddon().graphCount() - graphs).toBe(MOST);
    for (let size = 30; size < 50; size++) await train(model, size);
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: MOST, evictions: 22 });
    expect(loadAddon().graphCount() - graphs).toBe(MOST);
    expect(warnings).toHaveBeenCalledTimes(1);
    const [text] = warnings.calls.first().args as [string];
    expect(text).toContain(`the steps of model ${model.name} are of more than 16 kinds`);

    const other = compiled();
    for (let size = 1; size <= MOST + 2; size++) await train(other, size);
    expect(warnings).withContext('one for each model').toHaveBeenCalledTimes(2);
    [model, other].forEach(end);
  });

  it('count from compile on, and for each purpose', async () => {
    const model = compiled();
    for (let size = 1; size <= MOST + 1; size++) await train(model, size);
    const x = tf.zeros([4, 2], 'int32');
    for (let step = 0; step < 3; step++) tf.dispose(model.predict(x));
    x.dispose();
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: MOST + 1, evictions: 1 });
    const first = model.optimizer;
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
    first.dispose();
    expect(emb.stepInfo(model)).toEqual({ captured: false, reason: null, signatures: 0, evictions: 0 });
    expect((await train(model, 3)).signatures).toBe(1);
    end(model);
  });

  it('say why nothing is captured where they take turns', async () => {
    const model = compiled();
    for (let round = 0; round < 4; round++) for (let size = 1; size <= MOST + 4; size++) await train(model, size, 1);
    const { captured, reason, evictions } = emb.stepInfo(model);
    expect(captured).toBeFalse();
    expect(reason).toBe('Steps run op by op, because they are of more than 16 kinds, which take turns.');
    expect(evictions).toBe(4 * (MOST + 4) - MOST);
    expect(warnings).toHaveBeenCalledTimes(1);
    end(model);
  });

  it('give the same numbers when they give way and come again', async () => {
    const sizes = Array.from({ length: MOST + 3 }, (_, i) => i + 2);
    const order = [...sizes, ...sizes.slice(0, 5), ...sizes.slice(-2)].flatMap((size) => [size, size, size, size]);
    const found = await trainTwins(() => modelOf(), { steps: order.length, batch: (step) => order[step]! });
    expect(found.captured.info.signatures).toBe(MOST);
    expect(found.captured.info.evictions).toBe(3 + 5);
    expect(found.eager.info.evictions).toBe(0);
    expectEqual(found);
  });

  it('tell dtypes apart', async () => {
    const model = compiled();
    const x = tf.ones([4, 2], 'int32');
    const labels = [tf.ones([4, 1], 'int32'), tf.ones([4, 1], 'float32')];
    for (let step = 0; step < 8; step++) await model.trainOnBatch(x, labels[step % 2]!);
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2, evictions: 0 });
    tf.dispose([x, ...labels]);
    end(model);
  });

  it('do not count how many rows a data set has', async () => {
    const chunks = [40, 24, 48, 8, 40, 96, 16, 32];
    const training = twins(
      () => modelOf(),
      async (model) => {
        const random = new Random(11);
        const losses: number[] = [];
        model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), loss: 'binaryCrossentropy' });
        for (const rows of chunks) {
          const x = drawIds(random, rows, 2, ROWS);
          const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
          losses.push(...numbersOf(await model.fit(x, y, { batchSize: 8, epochs: 2, verbose: 0 })));
          tf.dispose([x, y]);
        }
        return losses;
      },
    );
    await expectCaptured(training);
  });

  it('count the last batch of a data set by its rows', async () => {
    const model = compiled();
    for (const rows of [20, 28, 36, 44, 52, 20]) {
      const [x, y] = [tf.zeros([rows, 2], 'int32'), tf.zeros([rows, 1])];
      await model.fit(x, y, { batchSize: 8, epochs: 3, verbose: 0 });
      tf.dispose([x, y]);
    }
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2, evictions: 0 });
    end(model);
  });
});

describe('Kinds of data', () => {
  it('are told by shapes, dtypes, and which tensors are the same, whichever these are', () => {
    tf.tidy(() => {
      const [a, b, c] = [0, 1, 2].map(() => tf.zeros([2, 3])) as [tf.Tensor, tf.Tensor, tf.Tensor];
      const different = [
        [a, b, c],
        [a, a, c],
        [a, b, a],
        [a, b, b],
        [a, a, a],
        [a, b, null],
        [a, null, b],
        [a, b, tf.zeros([3, 2])],
        [a, b, tf.zeros([2, 3], 'int32')],
      ];
      expect(new Set(different.map((data) => kindOf(data))).size).toBe(different.length);
      expect(kindOf([a, b, b])).toBe(kindOf([c, a, a]));
      const larger = tf.zeros([7, 3]);
      expect(kindOf([a, larger])).not.toBe(kindOf([a, b]));
      expect(kindOf([a, larger], new Set([1]))).toBe(kindOf([a, b], new Set([1])));
    });
  });
});
