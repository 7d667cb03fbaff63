/** What is captured, and that nothing that happens between steps is missed. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../helpers/random.js';
import {
  BATCH,
  ROWS,
  describeSteps,
  expectCaptured,
  expectRefused,
  modelOf,
  sigmoid,
  trainTwins,
  type Between,
  type Head,
} from './training.js';
import { OPTIMIZER_NAMES } from '../../src/rules/rules.js';
import { OF_PLAIN_TABLES, optimizerOf } from '../rules/optimizer_of.js';
import { drawIds, expectEqual, largest, numbersOf, twins } from './twins.js';

describeSteps('Captured steps', () => {
  describe('equal the steps op by op', () => {
    const others = OF_PLAIN_TABLES.map(optimizerOf).filter(({ config }) => Object.keys(config).length > 0);
    for (const { name, config } of [...OPTIMIZER_NAMES.map((name) => ({ name, config: {} })), ...others]) {
      it(['under', name, ...Object.keys(config)].join(' '), async () => {
        const optimizer = () => emb.train[name]({ learningRate: 0.05, ...config } as object);
        await expectCaptured(trainTwins(() => modelOf(), { optimizer }));
      });
    }

    it('with a rate that falls by the step, and one that is set in between', async () => {
      const optimizer = () => emb.train.adam({ learningRate: (step) => 0.05 / (1 + step) });
      await expectCaptured(trainTwins(() => modelOf(), { optimizer }));
      const between: Between = (model, step) => {
        if (step === 7) (model.optimizer as emb.SparseOptimizer).setLearningRate(0.001);
      };
      await expectCaptured(trainTwins(() => modelOf(), { between }));
    });

    it('with a rate that depends on how often it was asked for: once per step', async () => {
      let asked = 0;
      const optimizer = (): tf.Optimizer => {
        asked = 0;
        return emb.train.adam({ learningRate: () => 0.1 / ++asked });
      };
      await expectCaptured(trainTwins(() => modelOf(), { optimizer, steps: 15 }));
      expect(asked).toBe(15);
    });

    it('with penalties on touched rows and on kernels, and other factors in between', async () => {
      const regularizer = tf.regularizers.l1l2({ l1: 0.01, l2: 0.02 });
      const head: Head = (x) =>
        tf.layers.dense({ units: 1, activation: 'sigmoid', kernelRegularizer: 'l1l2' }).apply(x) as tf.SymbolicTensor;
      const changes: Readonly<Record<number, object>> = {
        0: { l1: 0.01, l2: 0.02, hasL1: true, hasL2: true },
        ...{ 4: { l2: 0.5 }, 8: { l1: 0.3 }, 12: { hasL1: false }, 16: { hasL2: false } },
      };
      const options = {
        between: (_: unknown, step: number) => void Object.assign(regularizer, changes[step]),
        steps: 20,
      };
      await expectCaptured(trainTwins(() => modelOf(head, { embeddingsRegularizer: regularizer }), options));
    });

    it('with normalization, whose moving averages are given new values', async () => {
      const head: Head = (x) =>
        sigmoid(
          tf.layers
            .layerNormalization()
            .apply(tf.layers.batchNormalization({ momentum: 0.7 }).apply(x)) as tf.SymbolicTensor,
        );
      await expectCaptured(trainTwins(() => modelOf(head)));
    });

    it('with products of rows, of which tfjs leaves the type open', async () => {
      const head: Head = (x) => {
        const [a, b] = [4, 4].map((units) => tf.layers.dense({ units }).apply(x) as tf.SymbolicTensor);
        const product = tf.layers.dot({ axes: 1 }).apply([a!, b!]) as tf.SymbolicTensor;
        return tf.layers.activation({ activation: 'sigmoid' }).apply(product) as tf.SymbolicTensor;
      };
      await expectCaptured(trainTwins(() => modelOf(head)));
    });

    it('with convolutions over rows of ids', async () => {
      const build = (): tf.LayersModel => {
        const ids = tf.input({ shape: [4], dtype: 'int32' });
        const layers = [
          emb.layers.embedding({ inputDim: ROWS, outputDim: 3 }),
          tf.layers.conv1d({ filters: 4, kernelSize: 2, activation: 'relu' }),
          tf.layers.globalMaxPooling1d(),
        ];
        return tf.model({
          inputs: ids,
          outputs: sigmoid(layers.reduce((x, layer) => layer.apply(x) as tf.SymbolicTensor, ids)),
        });
      };
      await expectCaptured(trainTwins(build, { ids: (random, batch) => drawIds(random, batch, 4, ROWS) }));
    });

    it('with metrics', async () => {
      await expectCaptured(trainTwins(() => modelOf(), { metrics: ['accuracy', 'mse'] }));
      await expectCaptured(trainTwins(() => modelOf(), { loss: tf.losses.meanSquaredError as never }));
    });

    it('with seeded dropout, whose masks are those of tfjs', async () => {
      const head: Head = (x) => sigmoid(tf.layers.dropout({ rate: 0.4, seed: 3 }).apply(x) as tf.SymbolicTensor);
      await expectCaptured(trainTwins(() => modelOf(head)));
    });

    it('with batches of several sizes, each of which is captured', async () => {
      await expectCaptured(
        trainTwins(() => modelOf(), { batch: (step) => (step % 3 === 2 ? 7 : BATCH), steps: 18 }),
        2,
      );
    });

    it('with a table that is shared by two layers', async () => {
      const build = (): tf.LayersModel => {
        const table = emb.embeddingTable({ inputDim: ROWS, outputDim: 4, embeddingsRegularizer: 'l1l2' });
        const ids = tf.input({ shape: [2], dtype: 'int32' });
        const [a, b] = ['sum', 'mean'].map(
          (combiner) =>
            emb.layers.embedding({ table, combiner: combiner as emb.Combiner }).apply(ids) as tf.SymbolicTensor,
        );
        return tf.model({ inputs: ids, outputs: sigmoid(tf.layers.multiply().apply([a!, b!]) as tf.SymbolicTensor) });
      };
      await expectCaptured(trainTwins(build));
    });

    it('with all tables in one layer', async () => {
      const build = (): tf.LayersModel => {
        const ids = tf.input({ shape: [1], dtype: 'int32' });
        const more = tf.input({ shape: [1], dtype: 'int32' });
        const layer = emb.layers.distributedEmbedding({
          embeddings: [8, 4].map((outputDim) => emb.layers.embedding({ inputDim: ROWS, outputDim, combiner: 'sum' })),
        });
        const rows = layer.apply([ids, more]) as tf.SymbolicTensor[];
        return tf.model({
          inputs: [ids, more],
          outputs: sigmoid(tf.layers.concatenate().apply(rows) as tf.SymbolicTensor),
        });
      };
      await expectCaptured(
        twins(build, async (model) => {
          model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'binaryCrossentropy' });
          const random = new Random(9);
          const x = [0, 1].map(() => drawIds(random, 100, 1, ROWS));
          const y = tf.tidy(() => x[0]!.greater(20).toFloat());
          const history = await model.fit(x, y, { epochs: 4, batchSize: 25, verbose: 0, validationSplit: 0.2 });
          tf.dispose([x, y]);
          return numbersOf(history);
        }),
        // 80 rows in batches of 25: the last one has 5; and the 20 of the validation.
        3,
      );
    });
  });

  describe('take notice of what happens between steps', () => {
    it('setWeights, reads that keep a tensor, and snapshots that must not change', async () => {
      const kept: tf.Tensor[] = [];
      const between: Between = (model, step) => {
        if (step % 4 === 3) tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(0.9))));
        if (step === 6) kept.push(...model.getWeights().map((weight) => weight.clone()));
      };
      const found = await trainTwins(() => modelOf(), { between });
      expectEqual(found);
      expect(found.captured.info.captured).toBeTrue();
      const half = kept.length / 2;
      for (let i = 0; i < half; i++) {
        expect(largest(kept[i]!.dataSync(), kept[half + i]!.dataSync())).toBeLessThanOrEqual(1e-5);
      }
      expect(kept[0]!.dataSync()).not.toEqual(found.captured.weights[0] as never);
      tf.dispose(kept);
    });

    it('setWeights with tensors that the caller keeps and that are read afterwards', async () => {
      const given: tf.Tensor[] = [];
      const copies: Float32Array[] = [];
      const between: Between = (model, step) => {
        if (step !== 6) return;
        const fresh = model.getWeights().map((weight) => weight.mul(0.5));
        given.push(...fresh);
        copies.push(...fresh.map((each) => Float32Array.from(each.dataSync())));
        model.setWeights(fresh);
      };
      await expectCaptured(trainTwins(() => modelOf(), { between }));
      given.forEach((each, i) => expect(each.dataSync()).toEqual(copies[i]!));
      tf.dispose(given);
    });

    it('layers that are frozen and released again', async () => {
      const between: Between = (model, step) => {
        if (step === 5) model.layers.at(-1)!.trainable = false;
        if (step === 10) model.layers.at(-1)!.trainable = true;
        if (step === 13) model.layers[1]!.trainable = false;
      };
      const found = await trainTwins(() => modelOf(), { between, steps: 20 });
      expectEqual(found);
      expect(found.captured.info.reason).toBeNull();
      expect(found.captured.info.signatures).toBeGreaterThan(1);
    });

    it('tables that are frozen in turns, each of which is a kind of step of its own', async () => {
      const between: Between = (model, step) => {
        const tables = model.layers.filter(({ name }) => name.startsWith('embedding'));
        tables.forEach((layer, i) => (layer.trainable = step % 2 === i));
      };
      await expectCaptured(
        trainTwins(() => modelOf(), { between, steps: 28 }),
        2,
      );
    });

    it('rates of dropout and fields of layers and optimizers that change', async () => {
      const head: Head = (x) => sigmoid(tf.layers.dropout({ rate: 0.4, seed: 3 }).apply(x) as tf.SymbolicTensor);
      const between: Between = (model, step) => {
        const dropout = model.layers.find(({ name }) => name.startsWith('dropout')) as unknown as { rate: number };
        if (step === 8) dropout.rate = 0.1;
        const { settings } = model.optimizer as emb.SparseOptimizer;
        if (step === 13) (settings as { beta1: number }).beta1 = 0.5;
      };
      await expectCaptured(trainTwins(() => modelOf(head), { between, steps: 20 }));
    });

    it('a field that changes in every step: op by op from then on', async () => {
      const head: Head = (x) => sigmoid(tf.layers.dropout({ rate: 0.4, seed: 3 }).apply(x) as tf.SymbolicTensor);
      const between: Between = (model, step) => {
        const dropout = model.layers.find(({ name }) => name.startsWith('dropout')) as unknown as { rate: number };
        if (step % 4 === 0) dropout.rate = 0.1 + step / 1000;
      };
      const steps = 48;
      await expectRefused(
        trainTwins(() => modelOf(head), { between, steps }),
        /the rate of layer dropout\w+ \(Dropout\) changes from step to step/,
      );
    });

    it('state of the optimizer that is saved, and loaded in the middle', async () => {
      const between: Between = async (model, step) => {
        if (step !== 6) return;
        const saved = (await model.optimizer.getWeights()).map(({ name, tensor }) => ({
          name,
          tensor: tf.keep(tf.tidy(() => (name.endsWith('/v') || name === 'iter' ? tensor.clone() : tensor.mul(0.5)))),
        }));
        await model.optimizer.setWeights(saved as never);
        tf.dispose(saved.map(({ tensor }) => tensor));
      };
      await expectCaptured(trainTwins(() => modelOf(), { between, steps: 16 }));
    });

    it('a model that is compiled anew', async () => {
      const between: Between = (model, step) => {
        if (step !== 6) return;
        model.optimizer.dispose();
        model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      };
      await expectCaptured(trainTwins(() => modelOf(), { between }));
    });

    it('a weight that is given another variable', async () => {
      const former: tf.Variable[] = [];
      const between: Between = (model, step) => {
        if (step !== 6) return;
        const weight = model.layers.at(-1)!.weights[0] as unknown as { val: tf.Variable };
        former.push(weight.val);
        weight.val = tf.tidy(() => tf.variable(weight.val.mul(2)));
      };
      await expectCaptured(trainTwins(() => modelOf(), { between }));
      tf.dispose(former);
    });

    it('a call of a layer that somebody replaces', async () => {
      const between: Between = (model, step) => {
        if (step !== 6) return;
        const last = model.layers.at(-1)!;
        const { call } = last;
        last.call = (...args) => tf.tidy(() => (call.apply(last, args) as tf.Tensor).mul(0.5));
      };
      const found = await trainTwins(() => modelOf(), { between });
      expectEqual(found);
    });
  });
});
