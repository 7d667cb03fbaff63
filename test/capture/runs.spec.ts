/** Errors, dropout, fit, datasets and evaluation under captured steps. */
import { DROPOUT } from '../../src/capture/overrides/dropout.js';
import { withOverrides } from '../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../helpers/random.js';
import { ROWS, describeSteps, expectCaptured, modelOf, sigmoid, type Head } from './training.js';
import { drawIds, expectEqual, numbersOf, twins, withRandom } from './twins.js';

describeSteps('Captured steps of models', () => {
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
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
    const rowsOfAll = tf.concat([x, bad]);
    const ys = tf.zeros([16, 1]);
    const options = { batchSize: 8, shuffle: false, verbose: 0, epochs: 1 };
    await expectAsync(model.fit(rowsOfAll, ys, options)).toBeRejectedWithError(emb.ValueError, /\[9, 1\]/);
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
          tf.tidy(() => withOverrides([DROPOUT], () => step([x, y]))[0]!.dataSync()[0]!),
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

  it('train on where a callback of fit changes the backend, and back', async () => {
    const random = new Random(7);
    const x = drawIds(random, 40, 2, ROWS);
    const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
    const found = await twins(
      () => modelOf(),
      async (model) => {
        model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), loss: 'binaryCrossentropy' });
        let batches = 0;
        const onBatchEnd = async (): Promise<void> => {
          batches++;
          if (batches === 7) await tf.setBackend('cpu');
          if (batches === 10) await tf.setBackend('tensorflow');
        };
        return numbersOf(await model.fit(x, y, { epochs: 4, batchSize: 10, callbacks: { onBatchEnd }, verbose: 0 }));
      },
    ).finally(() => tf.setBackend('tensorflow'));
    expect(found.captured.info.captured).toBeTrue();
    expectEqual(found, 1e-5);
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
});
