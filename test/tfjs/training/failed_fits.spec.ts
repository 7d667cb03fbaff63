/** Fits that fail at different places: they leave as many tensors as they found. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { describeEmulator } from '../../backends/emulator/describe_emulator.js';

const [ROWS, BATCHES] = [10, 2];
const thrown = (): never => {
  throw new Error('from outside');
};

const OPTIMIZERS: Readonly<Record<string, () => tf.Optimizer>> = {
  'emb.train.adam': () => emb.train.adam({ learningRate: 0.1 }),
  'emb.train.sgd with a bound on the norm': () => emb.train.sgd({ learningRate: 0.1, globalClipNorm: 1 }),
  'a stock optimizer': () => tf.train.adam(0.1),
};

function build(optimizer: () => tf.Optimizer, loss: tf.ModelCompileArgs['loss'] = 'meanSquaredError'): tf.Sequential {
  const embedding = emb.layers.embedding({ inputDim: ROWS, outputDim: 3, inputShape: [2], combiner: 'sum' });
  const model = tf.sequential({ layers: [embedding, tf.layers.dense({ units: 1 })] });
  model.compile({ optimizer: optimizer(), loss });
  return model;
}

const ids = (...last: number[]): tf.Tensor2D => tf.tensor2d([[1, 2], [3, 4], [5, 6], last], [4, 2], 'int32');

async function fit(model: tf.Sequential, x: tf.Tensor, args: tf.ModelFitArgs = {}, width = 1): Promise<void> {
  const y = tf.ones([4, width]);
  const { validationData } = args as { validationData?: tf.Tensor[] };
  try {
    await model.fit(x, y, { epochs: BATCHES, batchSize: 2, verbose: 0, ...args });
  } finally {
    tf.dispose([x, y, ...(validationData ?? [])]);
  }
}

interface Failure {
  readonly fails: (model: tf.Sequential) => Promise<unknown>;
  readonly loss?: tf.ModelCompileArgs['loss'];
}

const FAILURES: Readonly<Record<string, Failure>> = {
  'an id out of range': { fails: (model) => fit(model, ids(7, 40)) },
  'an id out of range, in order': { fails: (model) => fit(model, ids(7, 40), { shuffle: false }) },
  'a fraction': { fails: (model) => fit(model, tf.tensor2d([1, 2, 3, 4, 5, 6.5, 7, 8], [4, 2])) },
  'labels of another shape': { fails: (model) => fit(model, ids(7, 8), {}, 3) },
  'a validation id out of range': {
    fails: (model) => fit(model, ids(7, 8), { validationData: [ids(7, 40), tf.ones([4, 1])] }),
  },
  'an id in the part that validates': { fails: (model) => fit(model, ids(7, 80), { validationSplit: 0.5 }) },
  'a loss that throws': { fails: (model) => fit(model, ids(7, 8)), loss: thrown },
  'a loss of shapes that do not fit': {
    fails: (model) => fit(model, ids(7, 8)),
    loss: (labels, given) => labels.sub(given).matMul(tf.ones([7, 2])),
  },
  trainOnBatch: {
    fails: async (model) => {
      const [x, y] = [ids(7, 40), tf.ones([4, 1])];
      await model.trainOnBatch(x, y).finally(() => tf.dispose([x, y]));
    },
  },
  'a data set': {
    fails: async (model) => {
      const batch = (id: unknown): object => ({
        xs: tf.tensor2d([id as number, 2], [1, 2], 'int32'),
        ys: tf.ones([1, 1]),
      });
      await model.fitDataset(tf.data.array([1, 3, 40, 2]).map(batch as never), { epochs: 1, verbose: 0 });
    },
  },
  ...Object.fromEntries(
    (['onTrainBegin', 'onEpochBegin', 'onBatchBegin', 'onBatchEnd', 'onEpochEnd', 'onTrainEnd'] as const).flatMap(
      (name) => {
        // The second time only: what was made before is there.
        const later = (): tf.CustomCallbackArgs => {
          let calls = 0;
          return { [name]: () => (calls++ > 0 || name.includes('Train') ? thrown() : undefined) };
        };
        const validationData = (): [tf.Tensor, tf.Tensor] => [ids(7, 8), tf.ones([4, 1])];
        return [
          [
            `a callback ${name}`,
            { fails: (model: tf.Sequential) => fit(model, ids(7, 8), { callbacks: { [name]: thrown } }) },
          ],
          [
            `a callback ${name}, later, with validation`,
            {
              fails: (model: tf.Sequential) =>
                fit(model, ids(7, 8), { callbacks: later(), validationData: validationData() }),
            },
          ],
        ];
      },
    ),
  ),
};

function itLeavesNothing(): void {
  for (const [title, optimizer] of Object.entries(OPTIMIZERS)) {
    it(`under ${title}`, async () => {
      for (const [place, { fails, loss }] of Object.entries(FAILURES)) {
        const model = build(optimizer, loss);
        // Slots come with the first step, and a table of an emulator with the first lookup.
        if (loss === undefined) await fit(model, ids(7, 8));
        await fails(model).catch(() => undefined);
        const before = tf.memory().numTensors;
        for (let time = 0; time < 3; time++) {
          await expectAsync(fails(model)).withContext(place).toBeRejected();
          expect(tf.memory().numTensors).withContext(place).toBe(before);
        }
        model.optimizer.dispose();
        model.dispose();
      }
    });
  }

  it('and what a callback made is left to it', async () => {
    const model = build(OPTIMIZERS['emb.train.adam']!);
    const mine: tf.Tensor[] = [];
    const callbacks: tf.CustomCallbackArgs = {
      onEpochBegin: () => void mine.push(tf.zeros([1])),
      onBatchBegin: () => void mine.push(tf.zeros([2])),
      onBatchEnd: () => {
        mine.push(tf.zeros([3]));
        thrown();
      },
    };
    await expectAsync(fit(model, ids(7, 8), { callbacks })).toBeRejectedWithError('from outside');
    expect(mine.map(({ isDisposed, size }) => [isDisposed, size])).toEqual([1, 2, 3].map((size) => [false, size]));
    tf.dispose(mine);
    await expectAsync(fit(model, ids(7, 8))).toBeResolved();
    model.optimizer.dispose();
    model.dispose();
  });
}

describeForBackends('Fits that fail', itLeavesNothing, ['cpu native', 'wasm', 'tensorflow']);
describeEmulator('Fits that fail on devices', {}, itLeavesNothing, ['cpu', 'tensorflow']);
