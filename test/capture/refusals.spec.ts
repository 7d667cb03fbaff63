/** What is left to tfjs, and what is said of it. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
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

    it('where JavaScript draws noise or reads a tensor', async () => {
      const noisy: Head = (x) => sigmoid(tf.layers.gaussianNoise({ stddev: 0.1 }).apply(x) as tf.SymbolicTensor);
      await expectRefused(
        trainTwins(() => modelOf(noisy)),
        /JavaScript gives \w+ other numbers/,
      );
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
