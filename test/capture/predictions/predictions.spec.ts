/** Predictions as one call: the same as op by op. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { expectPredicted, numbersIn, predictTwins, type Options, type Predict } from './prediction_twins.js';
import { ROWS, describeSteps, modelOf, sigmoid, type Head } from '../training.js';
import { drawIds, expectEqual } from '../twins.js';

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
      const predict: Predict = (model, ids) => numbersIn(model.predict(ids, { batchSize: 8 }));
      await expectPredicted(
        predictTwins(() => modelOf(), { predict }),
        2,
      );
    });

    it('of one batch by predictOnBatch, given alone or in a list', async () => {
      const predict: Predict = (model, ids, round) => numbersIn(model.predictOnBatch(round % 2 === 0 ? ids : [ids]));
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
        const found = numbersIn(model.predict([ids, numbers], { batchSize: 15 }));
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
    const first = numbersIn(model.predict(x, { batchSize: 33 }));
    for (let round = 0; round < 5; round++) expect(numbersIn(model.predict(x, { batchSize: 33 }))).toEqual(first);
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2, evictions: 0 });
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
});
