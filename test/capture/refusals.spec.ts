/** What is left to tfjs, and what is said of it. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { freeMasks } from './random/random_layers.js';
import {
  ROWS,
  describeSteps,
  expectRefused,
  modelOf,
  sigmoid,
  trainTwins,
  type Between,
  type Head,
} from './training.js';
import { Random } from '../helpers/random.js';
import { drawIds, numbersOf, twins } from './twins.js';

describeSteps('Steps that are not captured', () => {
  describe('are left to tfjs', () => {
    it('for losses, metrics and layers of others, whatever they do', async () => {
      let calls = 0;
      const loss = (y: tf.Tensor, p: tf.Tensor): tf.Tensor =>
        tf.tidy(() => tf.losses.meanSquaredError(y, p).mul(calls++ % 20 < 10 ? 1 : 0.1));
      await expectRefused(
        trainTwins(() => modelOf(), { loss, steps: 20 }),
        /loss is a function/,
      );
      const metric = (y: tf.Tensor, p: tf.Tensor): tf.Tensor => tf.tidy(() => y.sub(p).mean());
      await expectRefused(
        trainTwins(() => modelOf(), { metrics: [metric as never] }),
        /metric is a function/,
      );
      class Doubling extends tf.layers.Layer {
        static className = 'Doubling';
        override computeOutputShape(shape: tf.Shape): tf.Shape {
          return shape;
        }
        override call(x: tf.Tensor | tf.Tensor[]): tf.Tensor {
          return tf.mul(Array.isArray(x) ? x[0]! : x, 2);
        }
      }
      const head: Head = (x) => sigmoid(new Doubling({}).apply(x) as tf.SymbolicTensor);
      await expectRefused(
        trainTwins(() => modelOf(head)),
        /layer \w+ is of the class Doubling/,
      );
    });

    it('for a loss, a metric and a layer that do something else from the 13th batch of fit on', async () => {
      let factor = 1;
      class Scaled extends tf.layers.Layer {
        static className = 'Scaled';
        override call(x: tf.Tensor | tf.Tensor[]): tf.Tensor {
          return tf.mul(Array.isArray(x) ? x[0]! : x, factor);
        }
      }
      const scaled: Head = (x) => sigmoid(new Scaled({}).apply(x) as tf.SymbolicTensor);
      const loss = (y: tf.Tensor, p: tf.Tensor): tf.Tensor =>
        tf.tidy(() => tf.losses.meanSquaredError(y, p).mul(factor));
      const metric = (y: tf.Tensor, p: tf.Tensor): tf.Tensor => tf.tidy(() => y.sub(p).mean().mul(factor));
      const random = new Random(9);
      const x = drawIds(random, 50, 2, ROWS);
      const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
      for (const [args, head, reason] of [
        [{ loss }, sigmoid, /loss is a function/],
        [{ loss: 'meanSquaredError', metrics: [metric as never] }, sigmoid, /metric is a function/],
        [{ loss: 'meanSquaredError' }, scaled, /is of the class Scaled/],
      ] as const) {
        const training = twins(
          () => modelOf(head),
          async (model) => {
            factor = 1;
            let batches = 0;
            const onBatchEnd = (): void => {
              if (++batches === 12) factor = 0.25;
            };
            model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), ...args } as tf.ModelCompileArgs);
            const history = await model.fit(x, y, { epochs: 4, batchSize: 10, callbacks: { onBatchEnd }, verbose: 0 });
            return numbersOf(history);
          },
        );
        await expectRefused(training, reason);
      }
      tf.dispose([x, y]);
    });

    it('for optimizers of others, and a dense one that was given', async () => {
      await expectRefused(
        trainTwins(() => modelOf(), { optimizer: () => tf.train.sgd(0.1) }),
        /not one of emb\.train/,
      );
      const dense: tf.Optimizer[] = [];
      const optimizer = (): tf.Optimizer => {
        dense.push(tf.train.sgd(0.1));
        return emb.train.adam({ learningRate: 0.01, dense: dense.at(-1)! });
      };
      await expectRefused(
        trainTwins(() => modelOf(), { optimizer }),
        /given as `dense`/,
      );
      dense.forEach((each) => each.dispose());
    });

    it('where a function of users drops what a cell takes, which is named with its layer', async () => {
      const dropoutFunc = (x: tf.Tensor): tf.Tensor => tf.mul(x, Math.random() < 0.5 ? 0 : 2);
      const dropping: Head = (x) => {
        const steps = tf.layers.reshape({ targetShape: [4, 3] }).apply(x) as tf.SymbolicTensor;
        return sigmoid(tf.layers.lstm({ units: 3, dropout: 0.5, dropoutFunc }).apply(steps) as tf.SymbolicTensor);
      };
      const models: tf.LayersModel[] = [];
      await expectRefused(
        trainTwins(() => models[models.push(modelOf(dropping)) - 1]!),
        /layer lstm\w+ \(LSTMCell\) has a function dropoutFunc of its own/,
      );
      models.forEach(freeMasks);
    });

    it('where JavaScript reads a tensor or draws numbers within a layer, which is named', async () => {
      const numbers = new Random(2);
      class Drawing extends tf.layers.Layer {
        static readonly className = 'Drawing';
        constructor(private readonly factor: (x: tf.Tensor) => number) {
          super({ name: 'drawing' });
        }
        override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
          const [x] = [inputs].flat();
          return tf.mul(x!, this.factor(x!));
        }
      }
      for (const [factor, reason] of [
        [() => numbers.next(), /JavaScript gives Mul other numbers from step to step in layer drawing \(Drawing\)\.$/],
        [
          (x: tf.Tensor) => x.dataSync()[0]!,
          /JavaScript reads a tensor within the step in layer drawing \(Drawing\)\.$/,
        ],
      ] as const) {
        const layer = new Drawing(factor);
        const f = emb.capture((x: tf.Tensor) => layer.apply(x) as tf.Tensor);
        const x = tf.ones([2, 2]);
        for (let call = 0; call < 4; call++) f(x).dispose();
        expect(f.info.reason).toMatch(reason);
        f.dispose();
        x.dispose();
      }
      return Promise.resolve();
    });

    it('whose pure losses are none, by their names', async () => {
      let factor = 1;
      const scaled = emb.pure(function scaledError(y: tf.Tensor, p: tf.Tensor): tf.Tensor {
        return tf.losses.meanSquaredError(y, p).mul(factor);
      });
      const model = modelOf();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: scaled });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      spyOn(console, 'warn');
      for (let step = 0; step < 60; step++) {
        factor = step < 3 ? 1 : 2;
        await model.trainOnBatch(x, y);
      }
      expect(emb.stepInfo(model).reason).toMatch(/marked by emb\.pure \(a function scaledError\) does not depend/);
      const loss = (yTrue: tf.Tensor, yPred: tf.Tensor): tf.Tensor => tf.losses.absoluteDifference(yTrue, yPred);
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      model.optimizer.dispose();
      model.compile({ optimizer, loss });
      await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model).reason).toMatch(/a loss is a function loss that is not one of tfjs/);
      optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('with a hook on a layer, and while tfjs is asked to look at each op', async () => {
      let seen = 0;
      const between: Between = (model, step) => {
        if (step === 0) model.layers.at(-1)!.setCallHook(() => void seen++);
      };
      await expectRefused(
        trainTwins(() => modelOf(), { between, steps: 5 }),
        /has a function _callHook/,
      );
      expect(seen).toBe(10);
      const model = modelOf();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
      for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model).captured).toBeTrue();
      const profile = await tf.profile(() => {
        void model.trainOnBatch(x, y);
        return undefined as never;
      });
      expect(profile.kernelNames).toContain('EmbeddingBag');
      await new Promise((resolve) => setTimeout(resolve));
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('where ops of tfjs step the dense variables, to which the learning rate is a constant', async () => {
      // A class whose steps are not known as one op.
      spyOn(tf.AdamOptimizer.prototype, 'getClassName').and.returnValue('AdamOfTomorrow');
      const between: Between = (model, step) => {
        (model.optimizer as emb.SparseOptimizer).setLearningRate(step < 6 ? 0.01 : 0.05);
      };
      await expectRefused(
        trainTwins(() => modelOf(), { between }),
        /ops of tfjs, to which the learning rate is a constant, step its dense variables/,
      );
    });
  });
});
