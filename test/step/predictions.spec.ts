/** Predictions as one call: the same as op by op, whatever happens to the model in between. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../src/backends/native/addon.js';
import { Random } from '../helpers/random.js';
import { ROWS, describeSteps, modelOf, sigmoid, type Head } from './training.js';
import { drawIds, expectEqual, twins, type Twins } from './twins.js';

/** All numbers of a prediction, which is disposed. */
function numbersOf(predicted: tf.Tensor | tf.Tensor[]): number[] {
  const all = [predicted].flat();
  const numbers = all.flatMap((each) => [...each.shape, ...Array.from(each.dataSync())]);
  tf.dispose(all);
  return numbers;
}

type Predict = (model: tf.LayersModel, ids: tf.Tensor, round: number) => number[];
const plain: Predict = (model, ids) => numbersOf(model.predict(ids));

interface Options {
  readonly predict?: Predict;
  readonly between?: (model: tf.LayersModel, round: number) => void | Promise<void>;
  readonly rounds?: number;
  readonly batch?: number;
  readonly ids?: (random: Random, batch: number, round: number) => tf.Tensor;
}

/** Predicts other ids in each round, captured and op by op. */
function predictTwins(build: () => tf.LayersModel, options: Options = {}): Promise<Twins> {
  const { predict = plain, between, rounds = 8, batch = 20 } = options;
  const { ids = (random, size) => drawIds(random, size, 2, ROWS) } = options;
  return twins(build, async (model) => {
    const random = new Random(3);
    const found: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await between?.(model, round);
      const x = ids(random, batch, round);
      found.push(...predict(model, x, round));
      x.dispose();
    }
    return found;
  });
}

async function expectPredicted(result: Promise<Twins>, signatures = 1): Promise<void> {
  const found = await result;
  expect(found.captured.info).toEqual({ captured: true, reason: null, signatures });
  expect(found.eager.info.captured).toBeFalse();
  // Products of small matrices are ours, whose sums may be rounded otherwise in the last bits.
  expectEqual(found, 1e-6);
}

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

describeSteps('Captured predictions', () => {
  describe('equal those op by op', () => {
    it('of a model that was never compiled', async () => {
      await expectPredicted(predictTwins(() => modelOf()));
    });

    it('of hidden layers, large enough and not, normalization, dropout and noise', async () => {
      const head: Head = (x) => {
        const layers = [
          tf.layers.dense({ units: 300, activation: 'relu' }),
          tf.layers.batchNormalization(),
          tf.layers.dropout({ rate: 0.5 }),
          tf.layers.gaussianNoise({ stddev: 1 }),
          tf.layers.dense({ units: 40, activation: 'tanh' }),
          tf.layers.layerNormalization(),
        ];
        return sigmoid(layers.reduce((before, layer) => layer.apply(before) as tf.SymbolicTensor, x));
      };
      await expectPredicted(predictTwins(() => modelOf(head), { batch: 64, rounds: 5 }));
    });

    it('over several batches, the last one smaller', async () => {
      const predict: Predict = (model, ids) => numbersOf(model.predict(ids, { batchSize: 8 }));
      await expectPredicted(
        predictTwins(() => modelOf(), { predict }),
        2,
      );
    });

    it('of one batch by predictOnBatch, given alone or in a list', async () => {
      const predict: Predict = (model, ids, round) => numbersOf(model.predictOnBatch(round % 2 === 0 ? ids : [ids]));
      await expectPredicted(predictTwins(() => modelOf(), { predict }));
    });

    it('of ids of one dimension, and of more samples than batches hold by default', async () => {
      const build = (): tf.LayersModel => {
        const ids = tf.input({ shape: [1], dtype: 'int32' });
        const rows = emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum' });
        return tf.model({ inputs: ids, outputs: sigmoid(rows.apply(ids) as tf.SymbolicTensor) });
      };
      const ids: Options['ids'] = (random) => tf.tidy(() => drawIds(random, 70, 1, ROWS).squeeze([1]));
      await expectPredicted(predictTwins(build, { ids }), 2);
    });

    it('of several inputs, ids and numbers, and several outputs', async () => {
      const build = (): tf.LayersModel => {
        const ids = tf.input({ shape: [2], dtype: 'int32' });
        const numbers = tf.input({ shape: [3] });
        const rows = emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'mean' }).apply(ids);
        const all = tf.layers.concatenate().apply([rows as tf.SymbolicTensor, numbers]) as tf.SymbolicTensor;
        const wide = tf.layers.dense({ units: 4, activation: 'tanh' }).apply(all) as tf.SymbolicTensor;
        return tf.model({ inputs: [ids, numbers], outputs: [sigmoid(all), wide, all] });
      };
      const predict: Predict = (model, ids) => {
        const numbers = tf.tidy(() => ids.mul(0.5).sum(1, true).tile([1, 3]));
        const found = numbersOf(model.predict([ids, numbers], { batchSize: 15 }));
        numbers.dispose();
        return found;
      };
      await expectPredicted(predictTwins(build, { predict }), 2);
    });

    it('of rows of ids whose number changes, as padding', async () => {
      const build = (): tf.LayersModel => {
        const ids = tf.input({ shape: [5], dtype: 'int32' });
        const layer = emb.layers.raggedEmbedding({ inputDim: ROWS, outputDim: 4, combiner: 'mean' });
        return tf.model({ inputs: ids, outputs: sigmoid(layer.apply(ids) as tf.SymbolicTensor) });
      };
      const ids: Options['ids'] = (random, batch, round) =>
        tf.tidy(() => {
          const drawn = drawIds(random, batch, 5, ROWS);
          const mask = drawIds(random, batch, 5, round === 6 ? 1 : 2).equal(1);
          return tf.where(mask, drawn, tf.fill([batch, 5], -1, 'int32'));
        });
      await expectPredicted(predictTwins(build, { ids }));
    });

    for (const dtype of ['int8', 'float16'] as const) {
      it(`of tables in ${dtype}, of one layer and of many`, async () => {
        const build = (): tf.LayersModel => {
          const ids = tf.input({ shape: [2], dtype: 'int32' });
          const { embedding, distributedEmbedding, raggedEmbedding } = emb.layers;
          const tables = [3, 5].map((outputDim) => embedding({ inputDim: ROWS, outputDim, combiner: 'sum' }));
          const many = distributedEmbedding({ embeddings: tables }).apply([ids, ids]) as tf.SymbolicTensor[];
          const rows = raggedEmbedding({ inputDim: ROWS, outputDim: 7, combiner: 'mean' }).apply(ids);
          const all = tf.layers.concatenate().apply([...many, rows as tf.SymbolicTensor]) as tf.SymbolicTensor;
          const model = tf.model({ inputs: ids, outputs: sigmoid(all) });
          const quantized = emb.quantize(model, { dtype });
          model.dispose();
          return quantized;
        };
        await expectPredicted(predictTwins(build));
      });
    }

    it('of models within models, one of them twice', async () => {
      const inner: tf.LayersModel[] = [];
      const head: Head = (x) => {
        const input = tf.input({ shape: x.shape.slice(1) });
        const hidden = tf.layers.dense({ units: x.shape[1]!, activation: 'elu' }).apply(input) as tf.SymbolicTensor;
        inner.push(tf.model({ inputs: input, outputs: hidden }));
        const twice = [0, 1].reduce((before) => inner.at(-1)!.apply(before) as tf.SymbolicTensor, x);
        return sigmoid(twice);
      };
      await expectPredicted(predictTwins(() => modelOf(head)));
      // Who holds it twice does not let go of it twice.
      inner.forEach((each) => each.dispose());
    });

    it('of a sequential model', async () => {
      const build = (): tf.LayersModel => {
        const rows = emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum', inputShape: [2] });
        return tf.sequential({ layers: [rows, tf.layers.dense({ units: 3 })] });
      };
      await expectPredicted(predictTwins(build));
    });

    it('under an optimizer and a loss that keep training op by op', async () => {
      const between: Options['between'] = (model, round) => {
        const loss = (y: tf.Tensor, p: tf.Tensor): tf.Tensor => tf.losses.absoluteDifference(y, p);
        if (round === 0) model.compile({ optimizer: tf.train.sgd(0.1), loss });
      };
      const found = await predictTwins(() => modelOf(), { between });
      expectEqual(found, 1e-6);
      expect(found.captured.info.captured).toBeTrue();
      expect(found.captured.info.signatures).toBe(1);
      expect(found.captured.info.reason).toMatch(/^Some steps run op by op, because its optimizer is not/);
    });
  });

  it('are the same to the bit from the first call on', () => {
    const head: Head = (x) => {
      const hidden = tf.layers.dense({ units: 300, activation: 'relu' }).apply(x) as tf.SymbolicTensor;
      return sigmoid(tf.layers.dense({ units: 17, activation: 'tanh' }).apply(hidden) as tf.SymbolicTensor);
    };
    const model = modelOf(head);
    const x = drawIds(new Random(4), 70, 2, ROWS);
    const first = numbersOf(model.predict(x, { batchSize: 33 }));
    for (let round = 0; round < 5; round++) expect(numbersOf(model.predict(x, { batchSize: 33 }))).toEqual(first);
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2 });
    model.dispose();
    x.dispose();
  });

  it('know the softmax of a dense layer and the layer of that name', async () => {
    const classes = { units: 5, activation: 'softmax' as const };
    const heads: Head[] = [
      (x) => tf.layers.dense(classes).apply(x) as tf.SymbolicTensor,
      (x) => tf.layers.softmax().apply(x) as tf.SymbolicTensor,
    ];
    for (const head of heads) await expectPredicted(predictTwins(() => modelOf(head)));
  });

  describe('take notice of what happens in between', () => {
    it('setWeights, by tensors that are kept and changed weights', async () => {
      const between: Options['between'] = (model, round) => {
        if (round < 4) return;
        tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(1.1))));
      };
      await expectPredicted(predictTwins(() => modelOf(), { between }));
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
        const one = numbersOf(model.predict(x));
        emb.setCapture(false);
        const isOwn = emb.stepInfo(model).captured;
        const other = tf.tidy(() => numbersOf(model.apply(x) as tf.Tensor));
        emb.setCapture(true);
        expect(isOwn).toBeFalse();
        expect(one.every((each, i) => Math.abs(each - other[i]!) <= 1e-6)).toBeTrue();
        seen.push(one);
        await train(model, 3);
      }
      expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2 });
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
      const expected = numbersOf(target.predict(x));
      for (let round = 0; round < 6; round++) {
        await train(online, 1);
        expect(numbersOf(target.predict(x))).toEqual(expected);
      }
      expect(emb.stepInfo(target).captured).toBeTrue();
      expect(numbersOf(online.predict(x))).not.toEqual(expected);
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
      for (let round = 0; round < 4; round++) numbersOf(model.predict(x));
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
    for (let round = 0; round < 4; round++) numbersOf(model.predict(good, { batchSize: 5 }));
    expect(emb.stepInfo(model).captured).toBeTrue();
    expect(() => model.predict(x, { batchSize: 5 })).toThrowError(emb.ValueError, /\[19, 1\].*50|50.*\[19, 1\]/);
    expect(numbersOf(model.predict(good)).length).toBe(22);
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
      numbersOf(model.predict(x));
    }
    model.dispose();
    expect(() => model.predict(x)).toThrowError(/disposed/);
    tf.dispose([x, wrong]);
  });

  it('leave results of integers to tfjs', async () => {
    const build = (): tf.LayersModel => {
      const ids = tf.input({ shape: [2, 1], dtype: 'int32' });
      return tf.model({ inputs: ids, outputs: tf.layers.flatten().apply(ids) as tf.SymbolicTensor });
    };
    const ids: Options['ids'] = (random, batch) => tf.tidy(() => drawIds(random, batch, 2, ROWS).expandDims(2));
    const found = await predictTwins(build, { ids });
    expectEqual(found, 1e-6);
    expect(found.captured.info.reason).toMatch(/not all of float32/);
  });

  it('hold as many tensors and graphs after many as after few, and none after the model', () => {
    const before = loadAddon().graphCount();
    const model = modelOf();
    const x = drawIds(new Random(1), 16, 2, ROWS);
    for (let round = 0; round < 4; round++) numbersOf(model.predict(x));
    const [tensors, graphs] = [tf.memory().numTensors, loadAddon().graphCount()];
    const bytes = process.memoryUsage().rss;
    const replays = Number(process.env['TFJS_EMBEDDINGS_STEP_REPLAYS'] ?? 600);
    for (let round = 0; round < replays; round++) tf.dispose(model.predict(x));
    expect(tf.memory().numTensors).toBe(tensors);
    expect(loadAddon().graphCount()).toBe(graphs);
    expect(process.memoryUsage().rss - bytes).toBeLessThan(64 * 2 ** 20 + replays * 1000);
    model.dispose();
    expect(loadAddon().graphCount()).toBe(before);
    x.dispose();
  });
});
