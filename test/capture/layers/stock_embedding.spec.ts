/** Captured steps of the embedding layer of tfjs, whose kernel reads the ids to check them. */
import { GATHERS } from '../../../src/capture/overrides/gathers.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { asNodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { record } from '../../../src/capture/recorder.js';
import { StepGraph } from '../../../src/capture/step_graph.js';
import { Random } from '../../helpers/random.js';
import { itIsCapturedRight, type Batch, type BadInputs } from './checked_models.js';
import { describeSteps, expectCaptured, expectRefused, trainTwins } from '../training.js';
import { drawIds, numbersOf, twins } from '../twins.js';
import { ours } from '../../tfjs/models/own_models.js';

const [ROWS, LENGTH, BATCH] = [40, 6, 16];

type Args = Partial<Parameters<typeof tf.layers.embedding>[0]>;

function textModel(args: Args, ...layers: tf.layers.Layer[]): tf.LayersModel {
  const table = tf.layers.embedding({ inputDim: ROWS, outputDim: 5, inputLength: LENGTH, ...args });
  return ours.sequential({ layers: [table, ...layers, tf.layers.dense({ units: 1, activation: 'sigmoid' })] });
}

const pooled = (args: Args = {}): tf.LayersModel => textModel(args, tf.layers.globalAveragePooling1d({}));

function draw(random: Random): Batch {
  const x = drawIds(random, BATCH, LENGTH, ROWS);
  return { x, y: tf.tidy(() => x.sum(1, true).mod(2).toFloat()) };
}

function outOfRange(id: number): BadInputs {
  const ids = Array.from({ length: BATCH * LENGTH }, (_, i) => (i === 7 ? id : i % ROWS));
  return {
    title: `the id ${id}`,
    x: () => tf.tensor2d(ids, [BATCH, LENGTH], 'int32'),
    error: id < 0 ? emb.ValueError : Error,
    message:
      id < 0
        ? /`defaultValue`: expected ids in \[0, \d+\), padding included, received -1 at/
        : new RegExp(`GatherV2: the index value ${id} is not in \\[0, ${ROWS - 1}\\]`),
  };
}

describeSteps('Captured steps of the stock embedding', (allowTensors) => {
  describe('pooled, Adam', () => {
    itIsCapturedRight({ build: pooled, draw, bad: [outOfRange(ROWS), outOfRange(-1)] });
  });

  describe('with a penalty on the table, beside a table of ours', () => {
    const build = (): tf.LayersModel => {
      const ids = emb.input({ shape: [LENGTH], dtype: 'int32' });
      const embeddingsRegularizer = tf.regularizers.l1l2({ l1: 0.001, l2: 0.01 });
      const stock = tf.layers.embedding({ inputDim: ROWS, outputDim: 4, embeddingsRegularizer });
      const flat = tf.layers.flatten().apply(stock.apply(ids)) as tf.SymbolicTensor;
      const ours = emb.layers.embedding({
        inputDim: ROWS,
        outputDim: 3,
        combiner: 'mean',
        embeddingsRegularizer: 'l2',
      });
      const both = tf.layers.concatenate().apply([flat, ours.apply(ids) as tf.SymbolicTensor]) as tf.SymbolicTensor;
      const output = tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(both) as tf.SymbolicTensor;
      return tf.model({ inputs: ids, outputs: output });
    };
    const checked = {
      build,
      draw,
      bad: [
        {
          ...outOfRange(ROWS + 3),
          error: emb.ValueError,
          message: /expected ids in \[0, 40\), received 43 at \[1, 1\]/,
        },
      ],
      optimizer: () => emb.train.adagrad({ learningRate: 0.05 }),
    };
    itIsCapturedRight(checked);
  });

  const train = (
    build: () => tf.LayersModel,
    options: Parameters<typeof trainTwins>[1] = {},
  ): ReturnType<typeof trainTwins> =>
    trainTwins(build, { ids: (random, batch) => drawIds(random, batch, LENGTH, ROWS), steps: 20, ...options });

  for (const [name, optimizer] of [
    ['sgd', () => emb.train.sgd({ learningRate: 0.1 })],
    ['adagradMomentum', () => emb.train.adagradMomentum({ learningRate: 0.01 })],
    ['adam with a bound on the norm', () => emb.train.adam({ learningRate: 0.01, globalClipNorm: 0.1 })],
  ] as const) {
    it(`equal the steps op by op under ${name}`, async () => {
      await expectCaptured(train(pooled, { optimizer }));
    });
  }

  it('equal the steps op by op in front of convolutions and dense layers', async () => {
    const conv = (): tf.LayersModel =>
      textModel(
        {},
        tf.layers.conv1d({ filters: 4, kernelSize: 3, activation: 'relu' }),
        tf.layers.globalMaxPooling1d(),
      );
    await expectCaptured(train(conv));
    await expectCaptured(
      train(() => textModel({}, tf.layers.flatten(), tf.layers.dense({ units: 4, activation: 'tanh' }))),
    );
  });

  it('equal the steps op by op with a mask of zeros, and in front of a recurrent layer', async () => {
    await expectCaptured(train(() => textModel({ maskZero: true }, tf.layers.lstm({ units: 3 })), { steps: 8 }));
    await expectCaptured(train(() => textModel({}, tf.layers.gru({ units: 3 })), { steps: 8 }));
  });

  it('take a table that is frozen, and one that two layers share', async () => {
    await expectCaptured(train(() => pooled({ trainable: false })));
    const shared = (): tf.LayersModel => {
      const ids = [0, 1].map(() => emb.input({ shape: [LENGTH] }));
      const table = tf.layers.embedding({ inputDim: ROWS, outputDim: 3 });
      const pool = (id: tf.SymbolicTensor): tf.SymbolicTensor =>
        tf.layers.globalAveragePooling1d({}).apply(table.apply(id)) as tf.SymbolicTensor;
      const dot = tf.layers.dot({ axes: 1 }).apply(ids.map(pool)) as tf.SymbolicTensor;
      return tf.model({
        inputs: ids,
        outputs: tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(dot) as tf.SymbolicTensor,
      });
    };
    const training = twins(shared, async (model) => {
      model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), loss: 'binaryCrossentropy' });
      const random = new Random(4);
      const losses: number[] = [];
      for (let step = 0; step < 12; step++) {
        const x = [0, 1].map(() => drawIds(random, BATCH, LENGTH, ROWS));
        const y = tf.tidy(() => x[0]!.sum(1, true).mod(2).toFloat());
        losses.push(...numbersOf(await model.trainOnBatch(x, y)));
        tf.dispose([...x, y]);
      }
      return losses;
    });
    await expectCaptured(training);
    // tfjs never disposes of a layer that was applied twice.
    allowTensors(3);
  });

  it('are left to tfjs under a stock optimizer', async () => {
    await expectRefused(train(pooled, { optimizer: () => tf.train.adam(0.01) }), /not one of emb\.train/);
  });

  it('check ids though nobody takes the rows', () => {
    tf.tidy(() => {
      const [table, ids] = [tf.ones([3, 2]), tf.tensor1d([0, 2], 'int32')];
      const step = (): tf.Tensor[] => {
        withOverrides([GATHERS], () => tf.gather(table, ids));
        return [table.square()];
      };
      const { recording } = record(asNodeBackend(tf.backend()), [table, ids], step);
      expect(recording.problem).toBeNull();
      const graph = new StepGraph(loadAddon(), recording);
      expect(graph.run([table, ids]).length).toBe(1);
      const strays = tf.tensor1d([0, 3], 'int32');
      expect(() => graph.run([table, strays])).toThrowError(/indices\[1\] = 3 is not in \[0, 3\)/);
      graph.release();
    });
  });

  it('leave tf.gather as it is elsewhere', () => {
    tf.tidy(() => {
      const table = tf.tensor2d([1, 2, 3, 4], [2, 2]);
      expect(() => tf.gather(table, tf.tensor1d([2], 'int32'))).toThrowError(/the index value 2 is not in \[0, 1\]/);
      expect(Array.from(tf.gather(table, tf.tensor1d([1, 0], 'int32'), 1).dataSync())).toEqual([2, 1, 4, 3]);
    });
  });
});
