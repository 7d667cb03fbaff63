/** Captured predictions and what happens to a model in between; what is left to tfjs; and memory. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { casesOf } from '../../forms/forms.js';
import { Random } from '../../helpers/random.js';
import { expectPredicted, numbersIn, predictTwins, type Options } from './prediction_twins.js';
import { ROWS, describeSteps, modelOf, sigmoid, type Head } from '../training.js';
import { drawIds, expectEqual } from '../twins.js';

/** Predictions of the specs of memory. */
const REPLAYS = casesOf('TFJS_EMBEDDINGS_STEP_REPLAYS');

const compiled = (head?: Head): tf.LayersModel => {
  const model = modelOf(head);
  model.compile({ optimizer: emb.train.adam({ learningRate: 0.05 }), loss: 'binaryCrossentropy' });
  return model;
};

/** Takes steps on the same batch. */
async function train(model: tf.LayersModel, steps: number): Promise<void> {
  const x = drawIds(new Random(8), 20, 2, ROWS);
  const y = tf.ones([20, 1]);
  for (let step = 0; step < steps; step++) await model.trainOnBatch(x, y);
  tf.dispose([x, y]);
}

describeSteps('Captured predictions of models', () => {
  describe('take notice of what happens in between', () => {
    it('setWeights, by tensors that are kept and changed weights', async () => {
      const between: Options['between'] = (model, round) => {
        if (round < 4) return;
        tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(1.1))));
      };
      await expectPredicted(predictTwins(() => modelOf(), { between }));
    });

    it('a pipeline that is attached, and one in its place', async () => {
      const { Pipeline } = emb.preprocessing;
      const between: Options['between'] = (model, round) => {
        if (round % 6 === 0) model.pipeline = new Pipeline({ columns: { user: 'int' } });
      };
      await expectPredicted(predictTwins(() => compiled(), { between, rounds: 30 }));
      const model = emb.attach(compiled(), new Pipeline({ columns: { user: 'int' } }));
      await train(model, 4);
      expect(emb.stepInfo(model)).toEqual(jasmine.objectContaining({ captured: true, reason: null }));
      model.optimizer.dispose();
      model.dispose();
    });

    it('layers that are frozen and released, which need no other graph', async () => {
      const between: Options['between'] = (model, round) => {
        for (const layer of model.layers) layer.trainable = round % 2 === 0;
      };
      const head: Head = (x) => sigmoid(tf.layers.batchNormalization().apply(x) as tf.SymbolicTensor);
      await expectPredicted(
        predictTwins(() => compiled(head), { between, rounds: 30 }),
        1,
      );
    });

    it('training, captured itself', async () => {
      const model = compiled();
      const x = drawIds(new Random(2), 8, 2, ROWS);
      const seen: number[][] = [];
      for (let round = 0; round < 6; round++) {
        const one = numbersIn(model.predict(x));
        emb.setCapture(false);
        const isOwn = emb.stepInfo(model).captured;
        const other = tf.tidy(() => numbersIn(model.apply(x) as tf.Tensor));
        emb.setCapture(true);
        expect(isOwn).toBeFalse();
        expect(one.every((each, i) => Math.abs(each - other[i]!) <= 1e-6)).toBeTrue();
        seen.push(one);
        await train(model, 3);
      }
      expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2, evictions: 0 });
      expect(new Set(seen.map(String)).size).toBe(6);
      model.optimizer.dispose();
      model.dispose();
      x.dispose();
    });

    it('training of another model whose weights it was given', async () => {
      // In the engine's list of variables those of the other model come last.
      const target = modelOf();
      const online = compiled();
      const x = drawIds(new Random(2), 8, 2, ROWS);
      target.setWeights(online.getWeights());
      const expected = numbersIn(target.predict(x));
      for (let round = 0; round < 6; round++) {
        await train(online, 1);
        expect(numbersIn(target.predict(x))).toEqual(expected);
      }
      expect(emb.stepInfo(target).captured).toBeTrue();
      expect(numbersIn(online.predict(x))).not.toEqual(expected);
      online.optimizer.dispose();
      online.dispose();
      target.dispose();
      x.dispose();
    });

    it('weights that shared one tensor when they were recorded', async () => {
      const head: Head = (x) => {
        const units = x.shape[1]!;
        const dense = (input: tf.SymbolicTensor): tf.SymbolicTensor =>
          tf.layers.dense({ units, activation: 'tanh' }).apply(input) as tf.SymbolicTensor;
        return dense(dense(x));
      };
      const between: Options['between'] = (model, round) => {
        if (round !== 0 && round !== 5) return;
        const weights = model.getWeights();
        const kernels = weights.filter(({ shape }) => shape[0] === shape[1]);
        const [first] = kernels;
        const given = weights.map((weight) => (round === 0 && kernels.includes(weight) ? first! : weight));
        const other = tf.tidy(() => first!.mul(2));
        if (round === 5) given[given.length - 2] = other;
        model.setWeights(given);
        other.dispose();
      };
      await expectPredicted(predictTwins(() => modelOf(head), { between }));
    });

    it('packed tables that shared one tensor when they were recorded', async () => {
      const build = (): tf.LayersModel => {
        const ids = tf.input({ shape: [2], dtype: 'int32' });
        const rows = [0, 1].map(() => {
          const layer = emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum' });
          return layer.apply(ids) as tf.SymbolicTensor;
        });
        const model = tf.model({ inputs: ids, outputs: tf.layers.concatenate().apply(rows) as tf.SymbolicTensor });
        const quantized = emb.quantize(model, { dtype: 'int8' });
        model.dispose();
        return quantized;
      };
      let other: tf.Tensor | null = null;
      const between: Options['between'] = (model, round) => {
        const [a, b] = model.getWeights();
        if (round === 0) {
          other = b!.clone();
          model.setWeights([a!, a!]);
        }
        if (round !== 5) return;
        model.setWeights([a!, other!]);
        other!.dispose();
      };
      await expectPredicted(predictTwins(build, { between }));
    });

    it('the call of a layer that changes', async () => {
      const between: Options['between'] = (model, round) => {
        const last = model.layers.at(-1)!;
        if (round !== 5) return;
        const { call } = last;
        last.call = (...args) => tf.tidy(() => (call.apply(last, args) as tf.Tensor).mul(0.5));
      };
      const found = await predictTwins(() => modelOf(), { between });
      expectEqual(found, 1e-6);
      expect(found.captured.info.reason).toMatch(/has a function call of its own/);
    });

    it('gradients that are asked for, which need the ops', () => {
      const model = modelOf();
      const x = drawIds(new Random(2), 8, 2, ROWS);
      for (let round = 0; round < 4; round++) numbersIn(model.predict(x));
      expect(emb.stepInfo(model).captured).toBeTrue();
      const variable = model.layers.at(-1)!.weights[0]!.read() as tf.Variable;
      tf.tidy(() => {
        const { grads } = tf.variableGrads(() => (model.predict(x) as tf.Tensor).sum(), [variable]);
        expect(grads[variable.name]!.abs().sum().dataSync()[0]).toBeGreaterThan(0);
      });
      model.dispose();
      x.dispose();
    });
  });

  it('tell an id out of range by its place in the input, over batches', () => {
    const model = modelOf();
    const x = tf.tidy(() =>
      tf.concat([drawIds(new Random(2), 19, 2, ROWS), tf.tensor2d([[3, ROWS]], [1, 2], 'int32')]),
    );
    const good = tf.zeros([20, 2], 'int32');
    for (let round = 0; round < 4; round++) numbersIn(model.predict(good, { batchSize: 5 }));
    expect(emb.stepInfo(model).captured).toBeTrue();
    expect(() => model.predict(x, { batchSize: 5 })).toThrowError(emb.ValueError, /\[19, 1\].*50|50.*\[19, 1\]/);
    expect(numbersIn(model.predict(good)).length).toBe(22);
    expect(emb.stepInfo(model).reason).toBeNull();
    model.dispose();
    tf.dispose([x, good]);
  });

  it('refuse what the model refuses, before and after they were captured', () => {
    const model = modelOf();
    const [x, wrong] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 3], 'int32')];
    for (let round = 0; round < 4; round++) {
      expect(() => model.predict(wrong)).toThrowError(/shape/);
      expect(() => model.predict(x, { batchSize: 0 })).toThrowError(/batchSize/);
      numbersIn(model.predict(x));
    }
    model.dispose();
    expect(() => model.predict(x)).toThrowError(/disposed/);
    tf.dispose([x, wrong]);
  });

  it('give inputs that come out as they went in, in memory of their own', async () => {
    for (const shape of [[2], [2, 1]]) {
      const build = (): tf.LayersModel => {
        const numbers = emb.input({ shape });
        const layer = shape.length > 1 ? tf.layers.flatten() : tf.layers.activation({ activation: 'linear' });
        return tf.model({ inputs: numbers, outputs: layer.apply(numbers) as tf.SymbolicTensor });
      };
      const ids: Options['ids'] = (random, batch) =>
        tf.tidy(() =>
          drawIds(random, batch, 2, ROWS)
            .toFloat()
            .reshape([-1, ...shape]),
        );
      const found = await predictTwins(build, { ids });
      expectEqual(found, 0);
      expect(found.captured.info).toEqual(jasmine.objectContaining({ captured: true, reason: null }));
    }
  });

  it('give integers that lay in the memory of an input, in memory of their own', async () => {
    const build = (): tf.LayersModel => {
      const ids = emb.input({ shape: [2, 1], dtype: 'int32' });
      return tf.model({ inputs: ids, outputs: tf.layers.flatten().apply(ids) as tf.SymbolicTensor });
    };
    const ids: Options['ids'] = (random, batch) => tf.tidy(() => drawIds(random, batch, 2, ROWS).expandDims(2));
    const found = await predictTwins(build, { ids });
    expectEqual(found, 1e-6);
    expect(found.captured.info).toEqual(jasmine.objectContaining({ captured: true, reason: null }));
  });

  for (const how of ['predict', 'predictOnBatch'] as const) {
    it(`hold as many tensors and graphs after many as after few, and none after the model: ${how}`, () => {
      const before = loadAddon().graphCount();
      const model = modelOf();
      const x = drawIds(new Random(1), 16, 2, ROWS);
      for (let round = 0; round < 4; round++) numbersIn(model[how](x));
      const [tensors, graphs] = [tf.memory().numTensors, loadAddon().graphCount()];
      const bytes = process.memoryUsage().rss;
      for (let round = 0; round < REPLAYS; round++) tf.dispose(model[how](x));
      expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
      expect(tf.memory().numTensors).toBe(tensors);
      expect(loadAddon().graphCount()).toBe(graphs);
      expect(process.memoryUsage().rss - bytes).toBeLessThan(64 * 2 ** 20 + REPLAYS * 1000);
      model.dispose();
      expect(loadAddon().graphCount()).toBe(before);
      x.dispose();
    });
  }
});
