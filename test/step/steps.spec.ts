/** Captured steps: what is captured, what is not and why, and that nothing that happens between steps is missed. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../src/backends/native/addon.js';
import { nativeDropout } from '../../src/step/native_dropout.js';
import { withDropout } from '../../src/tfjs_patches/training/dropout.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { drawIds, expectEqual, numbersOf, twins, withRandom, type Twins } from './twins.js';

const ROWS = 50;
const BATCH = 32;

type Between = (model: tf.LayersModel, step: number) => void | Promise<void>;
interface Options {
  readonly optimizer?: () => tf.Optimizer;
  readonly loss?: tf.ModelCompileArgs['loss'];
  readonly metrics?: tf.ModelCompileArgs['metrics'];
  readonly steps?: number;
  readonly between?: Between;
  /** The batch of a step. */
  readonly batch?: (step: number) => number;
}

type Head = (features: tf.SymbolicTensor) => tf.SymbolicTensor;
const sigmoid: Head = (x) => tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(x) as tf.SymbolicTensor;

/** Two tables, one of them regularized, and a head. */
function modelOf(head: Head = sigmoid, args: Partial<emb.EmbeddingArgs> = {}): tf.LayersModel {
  const ids = tf.input({ shape: [2], dtype: 'int32' });
  const { embedding } = emb.layers;
  const rows = embedding({ inputDim: ROWS, outputDim: 6, combiner: 'mean', ...args }).apply(ids) as tf.SymbolicTensor;
  const others = tf.layers
    .flatten()
    .apply(embedding({ inputDim: ROWS, outputDim: 3 }).apply(ids) as tf.SymbolicTensor) as tf.SymbolicTensor;
  const features = tf.layers.concatenate().apply([rows, others]) as tf.SymbolicTensor;
  return tf.model({ inputs: ids, outputs: head(features) });
}

/** Trains twins on the same batches. */
function trainTwins(build: () => tf.LayersModel, options: Options = {}): Promise<Twins> {
  const { optimizer = () => emb.train.adam({ learningRate: 0.01 }), loss = 'binaryCrossentropy' } = options;
  const { metrics, steps = 12, between, batch = () => BATCH } = options;
  return twins(build, async (model) => {
    model.compile({ optimizer: optimizer(), loss, ...(metrics === undefined ? {} : { metrics }) });
    const random = new Random(5);
    const losses: number[] = [];
    for (let step = 0; step < steps; step++) {
      await between?.(model, step);
      const x = drawIds(random, batch(step), 2, ROWS);
      const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
      losses.push(...numbersOf(await model.trainOnBatch(x, y)));
      tf.dispose([x, y]);
    }
    return losses;
  });
}

async function expectCaptured(result: Promise<Twins>, signatures = 1): Promise<void> {
  const found = await result;
  expect(found.captured.info).toEqual({ captured: true, reason: null, signatures });
  expect(found.eager.info.captured).toBeFalse();
  expectEqual(found);
}

async function expectRefused(result: Promise<Twins>, reason: RegExp): Promise<void> {
  const found = await result;
  expect(found.captured.info.captured).toBeFalse();
  expect(found.captured.info.reason).toMatch(/^Steps run op by op, because .+\.$/);
  expect(found.captured.info.reason).toMatch(reason);
  expectEqual(found, 0);
}

describeForBackends(
  'Captured steps',
  () => {
    let tensors: number;
    let graphs: number;
    beforeEach(() => {
      tensors = tf.memory().numTensors;
      graphs = loadAddon().graphCount();
    });
    afterEach(() => {
      expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors);
      expect(loadAddon().graphCount()).withContext('graphs left').toBe(graphs);
    });

    describe('equal the steps op by op', () => {
      for (const name of ['sgd', 'adagrad', 'rowWiseAdagrad', 'adagradMomentum', 'adam', 'ftrl'] as const) {
        it(`under ${name}`, async () => {
          const optimizer = () => emb.train[name]({ learningRate: 0.05 } as object);
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

      it('with penalties on touched rows and on kernels, and another factor in between', async () => {
        const regularizer = tf.regularizers.l1l2({ l1: 0.01, l2: 0.02 });
        const head: Head = (x) =>
          tf.layers.dense({ units: 1, activation: 'sigmoid', kernelRegularizer: 'l1l2' }).apply(x) as tf.SymbolicTensor;
        const between: Between = (_, step) => {
          (regularizer as unknown as { l2: number }).l2 = step < 6 ? 0.02 : 0.5;
        };
        await expectCaptured(trainTwins(() => modelOf(head, { embeddingsRegularizer: regularizer }), { between }));
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
        for (let i = 0; i < half; i++) expect(kept[i]!.dataSync()).toEqual(kept[half + i]!.dataSync());
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
          /rate changes from step to step/,
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

      it('a call of a layer that somebody replaces', async () => {
        const between: Between = (model, step) => {
          if (step !== 6) return;
          const last = model.layers.at(-1)!;
          const { call } = last;
          last.call = (...args) => tf.tidy(() => (call.apply(last, args) as tf.Tensor).mul(0.5));
        };
        const found = await trainTwins(() => modelOf(), { between });
        expectEqual(found, 0);
      });
    });

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
        await expectRefused(
          trainTwins(() => modelOf(sigmoid, { maskZero: true })),
          /JavaScript reads a tensor/,
        );
        const optimizer = () => emb.train.adam({ learningRate: 0.01, globalClipNorm: 0.1 });
        await expectRefused(
          trainTwins(() => modelOf(), { optimizer }),
          /JavaScript reads a tensor/,
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

      it('for ids with padding, which JavaScript takes away', async () => {
        const build = (): tf.LayersModel => {
          const ids = tf.input({ shape: [2], dtype: 'int32' });
          const rows = emb.layers.raggedEmbedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum' }).apply(ids);
          return tf.model({ inputs: ids, outputs: sigmoid(rows as tf.SymbolicTensor) });
        };
        await expectRefused(trainTwins(build), /JavaScript reads a tensor/);
      });
    });

    it('tell an id out of range in the words of the layer, and write nothing', async () => {
      const model = modelOf();
      model.compile({ optimizer: emb.train.adam({ learningRate: 0.01 }), loss: 'binaryCrossentropy' });
      const random = new Random(2);
      const x = drawIds(random, 8, 2, ROWS);
      const y = tf.zeros([8, 1]);
      for (let step = 0; step < 5; step++) await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model).captured).toBeTrue();
      const before = model.getWeights().map((weight) => weight.dataSync().slice());
      const bad = tf.tensor2d([[1, 2], [3, ROWS + 9], ...Array.from({ length: 6 }, () => [0, 0])], [8, 2], 'int32');
      await expectAsync(model.trainOnBatch(bad, y)).toBeRejectedWithError(
        emb.ValueError,
        /embedding_?\w*.*59|59.*embedding/,
      );
      model.getWeights().forEach((weight, i) => expect(weight.dataSync()).toEqual(before[i]!));
      await model.trainOnBatch(x, y);
      expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1 });
      const rowsOfAll = tf.concat([x, bad]);
      const ys = tf.zeros([16, 1]);
      const options = { batchSize: 8, shuffle: false, verbose: 0, epochs: 1 };
      await expectAsync(model.fit(rowsOfAll, ys, options)).toBeRejectedWithError(emb.ValueError, /\[9, 1\]/);
      // tfjs itself leaves two tensors behind when a fit fails.
      tensors += 2;
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y, bad, rowsOfAll, ys]);
    });

    it('draw dropout without a seed anew in each step, as the same op does op by op', async () => {
      const head: Head = (x) => sigmoid(tf.layers.dropout({ rate: 0.5 }).apply(x) as tf.SymbolicTensor);
      const start = modelOf(head);
      const weights = start.getWeights().map((weight) => weight.clone());
      const random = new Random(4);
      const x = drawIds(random, 16, 2, ROWS);
      const y = tf.zeros([16, 1]);
      const losses: number[][] = [];
      for (const isCaptured of [false, true]) {
        const model = modelOf(head);
        model.setWeights(weights);
        emb.setCapture(isCaptured, model);
        model.compile({ optimizer: emb.train.sgd({ learningRate: 0 }), loss: 'meanSquaredError' });
        const step = (
          model as unknown as { makeTrainFunction(): (data: tf.Tensor[]) => tf.Tensor[] }
        ).makeTrainFunction();
        const found = await withRandom(8, () => {
          const values = Array.from({ length: 10 }, () =>
            tf.tidy(() => withDropout(nativeDropout, () => step([x, y]))[0]!.dataSync()[0]!),
          );
          return Promise.resolve(values);
        });
        expect(emb.stepInfo(model).captured).toBe(isCaptured);
        losses.push(found);
        model.optimizer.dispose();
        model.dispose();
      }
      expect(losses[1]).toEqual(losses[0]!);
      expect(new Set(losses[1]).size).toBe(10);
      start.dispose();
      tf.dispose([weights, x, y]);
    });

    it('train with class weights, validation and callbacks, and stop when they are told to', async () => {
      const random = new Random(6);
      const x = drawIds(random, 60, 2, ROWS);
      const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
      const seen: string[] = [];
      await expectCaptured(
        twins(
          () => modelOf(),
          async (model) => {
            model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), loss: 'binaryCrossentropy' });
            let batches = 0;
            const callbacks = {
              onBatchEnd: (_: number, logs?: tf.Logs) => {
                seen.push(String(logs!['loss']));
                if (++batches === 17) model.stopTraining = true;
              },
            };
            const history = await model.fit(x, y, {
              epochs: 10,
              batchSize: 10,
              classWeight: { 0: 1, 1: 3 },
              validationSplit: 0.2,
              callbacks,
              verbose: 0,
            });
            return numbersOf(history);
          },
        ),
        // Of training batches of 10 and of 8 rows, of validation batches of 10 and of 2.
        4,
      );
      expect(seen.length).toBe(34);
      tf.dispose([x, y]);
    });

    it('train from a dataset', async () => {
      await expectCaptured(
        twins(
          () => modelOf(),
          async (model) => {
            model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'binaryCrossentropy' });
            const rows = Array.from({ length: 40 }, (_, i) => ({ xs: [i, (i * 7) % ROWS], ys: [i % 2] }));
            const dataset = tf.data
              .array(rows)
              .map(
                ({ xs, ys }: { xs: number[]; ys: number[] }) =>
                  ({ xs: tf.tensor1d(xs, 'int32'), ys: tf.tensor1d(ys) }) as never,
              )
              .batch(10);
            return numbersOf(await model.fitDataset(dataset as never, { epochs: 3, verbose: 0 }));
          },
        ),
      );
    });

    it('evaluate as op by op, between steps of training, and count no steps for it', async () => {
      const random = new Random(12);
      const x = drawIds(random, 40, 2, ROWS);
      const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
      let iterations = 0;
      await expectCaptured(
        twins(
          () => modelOf((features) => sigmoid(tf.layers.dropout({ rate: 0.5 }).apply(features) as tf.SymbolicTensor)),
          async (model) => {
            model.compile({
              optimizer: emb.train.sgd({ learningRate: 0 }),
              loss: 'meanSquaredError',
              metrics: ['accuracy'],
            });
            const losses: number[] = [];
            for (let round = 0; round < 5; round++) {
              const found = model.evaluate(x, y, { batchSize: 20 }) as tf.Scalar[];
              losses.push(...found.map((each) => each.dataSync()[0]!));
              tf.dispose(found);
              tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(1.1))));
            }
            iterations = model.optimizer.iterations;
            return losses;
          },
        ),
      );
      expect(iterations ?? 0).toBe(0);
      tf.dispose([x, y]);
    });

    describe('setCapture and stepInfo', () => {
      it('switch one model or all off and on, and free the graphs of a model', async () => {
        const model = modelOf();
        model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
        const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
        const train = async (): Promise<emb.StepInfo> => {
          for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
          return emb.stepInfo(model);
        };
        expect(emb.stepInfo(model)).toEqual({ captured: false, reason: null, signatures: 0 });
        expect(await train()).toEqual({ captured: true, reason: null, signatures: 1 });
        emb.setCapture(false, model);
        expect(loadAddon().graphCount()).toBe(graphs);
        expect((await train()).reason).toMatch(/setCapture/);
        emb.setCapture(true, model);
        emb.setCapture(false);
        expect((await train()).captured)
          .withContext('a choice for a model goes first')
          .toBeTrue();
        emb.setCapture(true);
        await tf.setBackend('cpu');
        expect(emb.stepInfo(model).reason).toMatch(/the backend is cpu/);
        await tf.setBackend('tensorflow');
        model.optimizer.dispose();
        model.dispose();
        tf.dispose([x, y]);
      });

      it('know the model within a sequential one', async () => {
        const layers = [
          emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum', inputShape: [2] }),
          tf.layers.dense({ units: 1 }),
        ];
        const model = tf.sequential({ layers });
        model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
        const [x, y] = [tf.zeros([4, 2], 'int32'), tf.zeros([4, 1])];
        for (let step = 0; step < 4; step++) await model.trainOnBatch(x, y);
        expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1 });
        emb.setCapture(false, model);
        expect(loadAddon().graphCount()).toBe(graphs);
        model.optimizer.dispose();
        model.dispose();
        tf.dispose([x, y]);
      });

      it('say why nothing is captured before compile, and refuse other arguments', () => {
        const model = modelOf();
        expect(emb.stepInfo(model).reason).toMatch(/not compiled/);
        model.dispose();
        expect(() => emb.stepInfo({} as never)).toThrowError(TypeError, /model/);
        expect(() => emb.setCapture('yes' as never)).toThrowError(TypeError, /on/);
        expect(() => emb.setCapture(true, 1 as never)).toThrowError(TypeError, /model/);
      });

      it('keep at most 16 kinds of steps', async () => {
        const model = modelOf();
        model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
        for (let batch = 1; batch <= 18; batch++) {
          const [x, y] = [tf.zeros([batch, 2], 'int32'), tf.zeros([batch, 1])];
          for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
          tf.dispose([x, y]);
        }
        expect(emb.stepInfo(model).signatures).toBe(16);
        model.optimizer.dispose();
        model.dispose();
      });
    });
  },
  ['tensorflow'],
);
