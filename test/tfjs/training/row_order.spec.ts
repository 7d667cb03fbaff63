/** Loops of `fit` over batches by their rows, beside those of tfjs. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { RowOrder } from '../../../src/tfjs/training/row_order.js';
import { gathered } from '../../../src/capture/gathered_rows.js';
import { describeEmulator, emulator } from '../../backends/emulator/describe_emulator.js';
import { describeForBackends } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';
import { withRandom } from '../../capture/twins.js';

const ROWS = 23;

/** What a callback was told, in order; tensors as numbers. */
type Told = unknown[];

class Recorder extends tf.CustomCallback {
  readonly told: Told = [];

  constructor(model: () => tf.LayersModel, stopAt: number) {
    const tell = (what: string, number: number | undefined, logs: tf.Logs | undefined): void => {
      this.told.push([what, number, { ...logs }]);
    };
    super({
      onEpochBegin: (epoch, logs) => tell('epoch begins', epoch, logs),
      onEpochEnd: (epoch, logs) => tell('epoch ends', epoch, logs),
      onBatchBegin: (batch, logs) => tell('batch begins', batch, logs),
      onBatchEnd: (batch, logs) => {
        tell('batch ends', batch, logs);
        if (this.told.length > stopAt) model().stopTraining = true;
        // Batches of its own size, in the middle of a fit.
        const [x, y] = [tf.ones([3, 1], 'int32'), tf.ones([3, 1])];
        const values = model().evaluate(x, y, { batchSize: 2 }) as tf.Scalar[];
        this.told.push(values.map((value) => value.dataSync()[0]));
        tf.dispose([x, y, values]);
      },
    } as tf.CustomCallbackArgs);
  }

  override setParams(params: Record<string, unknown>): void {
    this.told.push({ ...params });
  }
}

function build(): tf.LayersModel {
  const ids = tf.input({ shape: [1], dtype: 'int32' });
  const table = emb.layers.embedding({ inputDim: ROWS, outputDim: 1, combiner: 'sum', embeddingsInitializer: 'ones' });
  const model = tf.model({ inputs: ids, outputs: table.apply(ids) as tf.SymbolicTensor });
  model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError', metrics: ['mae'] });
  return model;
}

interface Outcome {
  readonly told: Told;
  readonly history: tf.History['history'];
  readonly weights: Float32Array;
}

/** A model whose rows tell in which batches they were: each id once. */
async function trained(isCaptured: boolean, args: tf.ModelFitArgs, stopAt: number): Promise<Outcome> {
  const model = build();
  emb.setCapture(isCaptured, model);
  const random = new Random(4);
  const x = tf.tensor2d(
    Int32Array.from({ length: ROWS }, (_, i) => i),
    [ROWS, 1],
    'int32',
  );
  const y = tf.tensor2d(random.floats(ROWS, -3, 3), [ROWS, 1]);
  const recorder = new Recorder(() => model, stopAt);
  const { history } = await withRandom(9, () => model.fit(x, y, { verbose: 0, callbacks: recorder, ...args }));
  const weights = Float32Array.from(model.getWeights()[0]!.dataSync());
  model.optimizer.dispose();
  model.dispose();
  tf.dispose([x, y]);
  return { told: recorder.told, history, weights };
}

/** Inputs of `fit` whose loops are compared with those of tfjs. */
const CASES: Record<string, tf.ModelFitArgs> = {
  'batches that divide the rows': { batchSize: 23, epochs: 3 },
  'a smaller last batch': { batchSize: 5, epochs: 3 },
  'rows in their order': { batchSize: 5, epochs: 2, shuffle: false },
  'batches of one row': { batchSize: 1, epochs: 2 },
  'batches larger than all rows': { batchSize: 99, epochs: 2 },
  'the usual size of batches': { epochs: 2 },
  validation: { batchSize: 4, epochs: 3, validationSplit: 0.3 },
  'a later first epoch': { batchSize: 6, epochs: 4, initialEpoch: 2 },
};

/** Both to 1e-6; what is no number exactly. */
function expectSame(received: unknown, expected: unknown): void {
  const numbers: [number, number][] = [];
  const shape = (value: unknown, to: number[]): unknown =>
    JSON.parse(
      JSON.stringify(value, (_, part: unknown) => {
        if (typeof part !== 'number' || Number.isInteger(part)) return part;
        to.push(part);
        return 'number';
      }),
    );
  const [a, b]: [number[], number[]] = [[], []];
  expect(shape(received, a)).toEqual(shape(expected, b));
  a.forEach((each, i) => numbers.push([each, b[i]!]));
  expect(Math.max(0, ...numbers.map(([one, other]) => Math.abs(one - other)))).toBeLessThanOrEqual(1e-6);
}

describeForBackends(
  'RowOrder',
  () => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

    it('gives each row once an epoch, batch by batch', () => {
      const order = new RowOrder(7, 3, false);
      expect([order.batches, order.sizeOf(0), order.sizeOf(2)]).toEqual([3, 3, 1]);
      const taken = Array.from({ length: 4 }, (_, i) => {
        if (i % 3 === 0) order.beginEpoch();
        return tf.tidy(() => [...order.next().dataSync()]);
      });
      expect(taken).toEqual([[0, 1, 2], [3, 4, 5], [6], [0, 1, 2]]);
    });

    it('shuffles as tf.util.shuffle does, from one epoch to the next', async () => {
      const epochs = <T>(one: () => T): Promise<T[]> => withRandom(3, () => Promise.resolve([one(), one(), one()]));
      const list = Array.from({ length: 11 }, (_, i) => i);
      const stock = await epochs(() => {
        tf.util.shuffle(list);
        return [...list];
      });
      const order = new RowOrder(11, 4, true);
      const own = await epochs(() => {
        order.beginEpoch();
        return Array.from({ length: 3 }, () => tf.tidy(() => [...order.next().dataSync()])).flat();
      });
      expect(own).toEqual(stock);
      expect(stock[0]).not.toEqual(stock[1]!);
    });

    for (const [title, args] of Object.entries(CASES)) {
      it(`trains and tells callbacks as tfjs does: ${title}`, async () => {
        const [stock, own] = [await trained(false, args, Infinity), await trained(true, args, Infinity)];
        expectSame(own, stock);
      });
    }

    it('ends where a callback stops the training', async () => {
      const args = { batchSize: 4, epochs: 3 };
      const [stock, own] = [await trained(false, args, 20), await trained(true, args, 20)];
      expectSame(own, stock);
      expect(own.told.length).toBeLessThan(40);
    });

    it('leaves orders that tfjs refuses to it, and other loops after one that failed', async () => {
      await expectAsync(trained(true, { shuffle: 'batch' as never }, Infinity)).toBeRejectedWithError(
        /batch shuffling/,
      );
      tensors = tf.memory().numTensors;
      expectSame(await trained(true, { epochs: 2 }, Infinity), await trained(false, { epochs: 2 }, Infinity));
    });
  },
  ['tensorflow'],
);

// The steps run op by op either way: what differs is who gathers the rows of a batch.
describeEmulator(
  'RowOrder',
  { devices: 'inline', chips: 2 },
  () => {
    for (const [title, args] of Object.entries(CASES)) {
      it(`trains and tells callbacks on devices as tfjs does: ${title}`, async () => {
        const gathers = spyOn(tf.backend() as unknown as { executeMultipleOutputs(): void }, 'executeMultipleOutputs');
        gathers.and.callThrough();
        const own = await trained(true, args, Infinity);
        const stock = await trained(false, args, Infinity);
        expectSame(own, stock);
        expect(own.weights).toEqual(stock.weights);
        const names = gathers.calls.allArgs().map(([name]: unknown[]) => name);
        expect(names).toContain('EmbeddingTakeRows');
      });
    }

    it('takes rows of a table that lies on devices', () => {
      const variable = tf.tidy(() => tf.variable(tf.tensor2d([[1], [2], [3]])));
      emulator().place(variable);
      tf.tidy(() => {
        const [found] = gathered([variable], tf.tensor1d([2, 0], 'int32'));
        expect([...found!.dataSync()]).toEqual([3, 1]);
      });
      variable.dispose();
    });
  },
  ['tensorflow'],
);
