/** Means over an epoch as numbers, beside those that tfjs sums up as tensors. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { asOwn } from '../../../src/tfjs/engine/own_functions.js';
import { sumInJavaScript } from '../../../src/tfjs/training/epoch_means.js';
import { describeForBackends } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';

interface Logger {
  setParams(params: object): void;
  onEpochBegin(epoch: number): Promise<void>;
  onBatchEnd(batch: number, logs: tf.Logs): Promise<void>;
  onEpochEnd(epoch: number, logs: tf.Logs): Promise<void>;
}

function build(): tf.LayersModel {
  const ids = tf.input({ shape: [1], dtype: 'int32' });
  const table = emb.layers.embedding({ inputDim: 40, outputDim: 1, combiner: 'sum' });
  const model = tf.model({ inputs: ids, outputs: table.apply(ids) as tf.SymbolicTensor });
  model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError', metrics: ['mae'] });
  return model;
}

/** The class of the callback that tells means, which tfjs does not export. */
async function loggerClass(model: tf.LayersModel, [x, y]: readonly tf.Tensor[]): Promise<new () => Logger> {
  const { prototype } = tf.CallbackList as unknown as {
    prototype: { setParams(this: { callbacks: object[] }, params: object): void };
  };
  // Puts what this package puts there in its place.
  await model.fit(x!, y!, { verbose: 0 });
  const { setParams } = prototype;
  let found: object | undefined;
  prototype.setParams = function (params): void {
    found ??= this.callbacks[0];
    setParams.call(this, params);
  };
  try {
    await model.fit(x!, y!, { verbose: 0 });
  } finally {
    prototype.setParams = setParams;
  }
  return found!.constructor as new () => Logger;
}

async function meansOf(logger: Logger, batches: readonly { size: number; loss: number; mae: number }[]) {
  logger.setParams({ metrics: ['loss', 'mae', 'val_loss'] });
  const means: number[][] = [];
  for (let epoch = 0; epoch < 2; epoch++) {
    await logger.onEpochBegin(epoch);
    for (const [batch, { size, loss, mae }] of batches.entries()) {
      const tensors = { loss: tf.scalar(loss), mae: tf.scalar(mae) };
      await logger.onBatchEnd(batch, { batch, size, ...tensors } as never);
      tf.dispose(tensors);
    }
    const logs: Record<string, tf.Tensor> = {};
    await logger.onEpochEnd(epoch, logs as never);
    means.push(Object.values(logs).map((mean) => mean.dataSync()[0]!));
    tf.dispose(logs);
  }
  return means;
}

describeForBackends(
  'sums of an epoch in JavaScript',
  () => {
    let tensors: number;
    let [model, data]: [tf.LayersModel, tf.Tensor[]] = [null as never, []];
    beforeEach(() => {
      tensors = tf.memory().numTensors;
      model = build();
      const x = tf.tensor2d(
        Int32Array.from({ length: 40 }, (_, i) => i),
        [40, 1],
        'int32',
      );
      data = [x, tf.ones([40, 1])];
    });
    afterEach(() => {
      model.optimizer.dispose();
      model.dispose();
      tf.dispose(data);
      expect(tf.memory().numTensors).toBe(tensors);
    });

    it('are those of tfjs to the bit', async () => {
      const Logger = await loggerClass(model, data);
      expect(Logger.name).toBe('BaseLogger');
      const random = new Random(3);
      const batches = Array.from({ length: 50 }, () => {
        const [loss, mae] = random.floats(2, 1e-6, 30) as unknown as [number, number];
        return { size: random.whole(1, 300), loss, mae };
      });
      const ours = new Logger();
      sumInJavaScript([ours]);
      const means = await meansOf(ours, batches);
      expect(means).toEqual(await meansOf(new Logger(), batches));
      expect(means[0]!.length).toBe(2);
    });

    it('leave a batch of a captured fit one op', async () => {
      const backend = tf.backend() as unknown as Record<
        'executeSingleOutput' | 'executeMultipleOutputs',
        (name: string, ...rest: unknown[]) => unknown
      >;
      await model.fit(data[0]!, data[1]!, { epochs: 1, batchSize: 4, verbose: 0 });
      expect(emb.stepInfo(model).captured).toBeTrue();
      const names: string[] = [];
      const { executeSingleOutput, executeMultipleOutputs } = backend;
      // Those of somebody else would end the captured steps.
      backend.executeSingleOutput = asOwn(function (this: unknown, name: string, ...rest: unknown[]) {
        names.push(name);
        return executeSingleOutput.call(this, name, ...rest);
      });
      backend.executeMultipleOutputs = asOwn(function (this: unknown, name: string, ...rest: unknown[]) {
        names.push(name);
        return executeMultipleOutputs.call(this, name, ...rest);
      });
      try {
        await model.fit(data[0]!, data[1]!, { epochs: 3, batchSize: 4, verbose: 0 });
      } finally {
        Object.assign(backend, { executeSingleOutput, executeMultipleOutputs });
      }
      expect(names.filter((name) => name === 'EmbeddingStep').length).toBe(30);
      // What is left is once an epoch: the means.
      expect(names.filter((name) => name !== 'EmbeddingStep').length).toBeLessThan(15);
      expect(names).not.toContain('Slice');
    });

    it('leave slices of others as they are', async () => {
      const slices: number[][] = [];
      const list = tf.tensor1d([5, 6, 7]);
      await model.fit(data[0]!, data[1]!, {
        epochs: 2,
        batchSize: 10,
        verbose: 0,
        callbacks: { onBatchBegin: () => void slices.push([...tf.tidy(() => list.slice(1, 1).dataSync())]) },
      });
      list.dispose();
      expect(slices.length).toBe(8);
      expect(slices.every(([value, ...rest]) => value === 6 && rest.length === 0)).toBeTrue();
    });
  },
  ['tensorflow'],
);
