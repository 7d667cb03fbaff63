import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectClose, ids, leakFree, ramp, take, useCpu } from '../setup.js';

describe('Embedding without a combiner, as the stock layer', () => {
  beforeAll(useCpu);

  const table = ramp(12, 3);
  const layerOf = (args: Partial<emb.EmbeddingArgs> = {}): emb.Embedding =>
    emb.layers.embedding({ inputDim: 12, outputDim: 3, weights: [table], ...args });

  it(
    'forward, mask, shapes and gradient are equal',
    leakFree(async () => {
      for (const args of [{}, { maskZero: true }, { inputLength: 4 }, { maskZero: true, inputLength: 4 }]) {
        const stock = tf.layers.embedding({ inputDim: 12, outputDim: 3, ...args });
        const ours = emb.layers.embedding({ inputDim: 12, outputDim: 3, ...args });
        const models = [stock, ours].map((layer) => tf.sequential({ layers: [layer as tf.layers.Layer] }));
        const values = tf.tensor2d(table, [12, 3]);
        models.forEach((model) => model.setWeights([values]));
        expect(models[1]!.outputShape).toEqual(models[0]!.outputShape);
        const input = ids([
          [0, 3, 11, 3],
          [1, 0, 0, 2],
        ]);
        const [a, b] = models.map((model) => take(model.predict(input)));
        expect(b).toEqual(a);
        const masks = [stock, ours].map((layer) => (layer as tf.layers.Layer).computeMask(input) as tf.Tensor | null);
        expect(masks[1] && take(masks[1])).toEqual(masks[0] && take(masks[0]));
        const target = tf.ones([2, 4, 3]);
        const losses: number[] = [];
        for (const model of models) {
          const optimizer = tf.train.sgd(0.1);
          model.compile({ optimizer, loss: 'meanSquaredError' });
          losses.push((await model.trainOnBatch(input, target)) as number);
          optimizer.dispose();
        }
        expect(losses[1]).toBe(losses[0]!);
        const [trained, wanted] = [ours, stock].map((layer) => (layer as tf.layers.Layer).getWeights()[0]!.dataSync());
        expectClose(trained!, wanted!);
        tf.dispose([values, input, target]);
        models.forEach((model) => model.dispose());
      }
    }),
  );

  it(
    'a mask makes an LSTM skip padding',
    leakFree(() => {
      const lstm = (): tf.layers.Layer =>
        tf.layers.lstm({ units: 2, kernelInitializer: 'ones', recurrentInitializer: 'ones' });
      const padded = tf.sequential({ layers: [layerOf({ maskZero: true, inputLength: 4 }), lstm()] });
      const plain = tf.sequential({ layers: [layerOf({ inputLength: 2 }), lstm()] });
      const [long, short] = [ids([[4, 2, 0, 0]]), ids([[4, 2]])];
      expectClose(take(padded.predict(long)), take(plain.predict(short)));
      tf.dispose([long, short]);
      padded.dispose();
      plain.dispose();
    }),
  );

  it(
    'a branch without mask is not given that of another branch',
    leakFree(() => {
      const [left, right] = [1, 2].map(() => tf.input({ shape: [3], dtype: 'int32' })) as [
        tf.SymbolicTensor,
        tf.SymbolicTensor,
      ];
      const masked = layerOf({ maskZero: true }).apply(left) as tf.SymbolicTensor;
      const open = layerOf().apply(right) as tf.SymbolicTensor;
      const outputs = [masked, open].map((each) => tf.layers.lstm({ units: 1 }).apply(each) as tf.SymbolicTensor);
      const model = tf.model({ inputs: [left, right], outputs });
      const inputs = [ids([[1, 0, 0]]), ids([[1, 0, 0]])];
      const results = model.predict(inputs) as tf.Tensor[];
      expect(results.map((each) => each.shape)).toEqual([
        [1, 1],
        [1, 1],
      ]);
      tf.dispose([...inputs, ...results]);
      model.dispose();
    }),
  );

  it(
    'a mask applied directly is disposed with its result',
    leakFree(() => {
      const layer = layerOf({ maskZero: true });
      const input = ids([[1, 0]]);
      const output = layer.apply(input) as tf.Tensor & { kerasMask: tf.Tensor };
      expect(Array.from(output.kerasMask.dataSync())).toEqual([1, 0]);
      output.dispose();
      expect(output.isDisposed && output.kerasMask.isDisposed).toBeTrue();
      const inTidy = tf.tidy(() => layer.apply(input) as tf.Tensor);
      tf.dispose([inTidy, input]);
      layer.dispose();
    }),
  );
});
