/** What ids of `Embedding` may be. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectClose, expectError, ids, leakFree, pooled, ramp, take, useCpu } from '../setup.js';

describe('Embedding, ids', () => {
  beforeAll(useCpu);

  const table = ramp(12, 3);
  const layerOf = (args: Partial<emb.EmbeddingArgs> = {}): emb.Embedding =>
    emb.layers.embedding({ inputDim: 12, outputDim: 3, weights: [table], ...args });

  it(
    'are int32 from the input on, so that neighbours above 2^24 stay apart',
    leakFree(() => {
      const rows = 2 ** 24 + 8;
      const weights = new Float32Array(rows);
      const wanted = [16777215, 16777216, 16777217, 16777218, 16777219];
      wanted.forEach((id, i) => (weights[id] = i + 1));
      const layer = emb.layers.embedding({ inputDim: rows, outputDim: 1, inputLength: 5, weights: [weights] });
      const model = tf.sequential({ layers: [layer, tf.layers.flatten()] });
      expect(model.inputs[0]!.dtype).toBe('int32');
      const input = ids([wanted]);
      expect(take(model.predict(input))).toEqual([1, 2, 3, 4, 5]);
      const rounded = tf.tensor2d([[1, 2, 3, 4, 16777216]]);
      expectError(() => layer.apply(rounded), 'ValueError', 'ids', /16777216/);
      expectError(() => layer.apply(tf.input({ shape: [5] })), 'TypeError', 'inputs', /float32/);
      tf.dispose([input, rounded]);
      model.dispose();
    }),
  );

  it(
    'as floats must be whole',
    leakFree(() => {
      const layer = layerOf({ combiner: 'sum' });
      const [whole, fraction, none] = [
        [1, 2],
        [1, 2.5],
        [1, NaN],
      ].map((row) => tf.tensor2d([row])) as [tf.Tensor, tf.Tensor, tf.Tensor];
      expectClose(take(layer.apply(whole)), pooled(table, 3, [[1, 2]], 'sum'));
      expectError(() => layer.apply(fraction), 'ValueError', 'ids', /2.5/);
      expectError(() => layer.apply(none), 'ValueError', 'ids', /NaN/);
      tf.dispose([whole, fraction, none]);
      layer.dispose();
    }),
  );

  it(
    'that a model is fed as floats are never rounded',
    leakFree(async () => {
      const models = [
        tf.sequential({ layers: [layerOf({ combiner: 'sum', inputLength: 2 })] }),
        (() => {
          const inputs = tf.input({ shape: [2], dtype: 'int32' });
          return tf.model({ inputs, outputs: layerOf({ combiner: 'sum' }).apply(inputs) as tf.SymbolicTensor });
        })(),
      ];
      for (const model of models) {
        const [whole, fraction] = [tf.tensor2d([[1, 2]]), tf.tensor2d([[1, 2.5]])];
        const y = tf.ones([1, 3]);
        const optimizer = emb.train.sgd({ learningRate: 0.1 });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        expect(model.inputs[0]!.dtype).toBe('int32');
        expectClose(take(model.predict(whole)), pooled(table, 3, [[1, 2]], 'sum'));
        const before = tf.memory().numTensors;
        expectError(() => model.predict(fraction), 'ValueError', 'ids', /2.5/);
        expectError(() => model.apply(fraction), 'ValueError', 'ids', /2.5/);
        expectError(() => model.evaluate(fraction, y), 'ValueError', 'ids', /2.5/);
        expect(tf.memory().numTensors).toBe(before);
        await model.fit(whole, y, { verbose: 0 });
        expect(model.inputs[0]!.dtype).toBe('int32');
        tf.dispose([whole, fraction, y]);
        optimizer.dispose();
        model.dispose();
      }
    }),
  );

  // Not counted: an error thrown within a step makes tfjs itself leave tensors.
  it('that fit is given as floats are never rounded', async () => {
    const model = tf.sequential({ layers: [layerOf({ combiner: 'sum', inputLength: 2 })] });
    const [x, y] = [tf.tensor2d([[1, 2.5]]), tf.ones([1, 3])];
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    let error: Error | undefined;
    await model.fit(x, y, { verbose: 0 }).catch((thrown: Error) => (error = thrown));
    expect(error).toBeInstanceOf(emb.ValueError);
    expect(error?.message).toContain('2.5');
    tf.dispose([x, y]);
    optimizer.dispose();
    model.dispose();
  });

  it(
    'outside the table are refused with id, position and rows',
    leakFree(() => {
      const layer = layerOf();
      const high = ids([[1, 12]]);
      expectError(() => layer.apply(high), 'ValueError', 'ids', /12/);
      high.dispose();
      layer.dispose();
    }),
  );
});
