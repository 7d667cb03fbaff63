/** Weights of ragged ids in models: they lie in the rows of the ids, or the call is refused. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError, expectRejection } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';

/** Rows of these lengths, with the numbers counted from 1. */
function rowsOf(lengths: readonly number[], dtype: 'int32' | 'float32'): emb.RaggedTensor {
  const count = lengths.reduce((sum, each) => sum + each, 0);
  const values = Array.from({ length: count }, (_, i) => i + 1);
  return emb.RaggedTensor.fromRowLengths(
    dtype === 'int32' ? Int32Array.from(values) : Float32Array.from(values),
    lengths,
  );
}

describeForBackends('weights of ragged ids in a model', ({ backend }) => {
  function makeModel(combiner: 'sum' | 'mean', hasScaled: boolean): tf.LayersModel {
    const ids = emb.input({ shape: [null], ragged: true, name: 'ids' });
    const weights = emb.input({ shape: [null], ragged: true, dtype: 'float32', name: 'weights' });
    const { Normalization } = emb.preprocessing;
    const scaling = emb.layers.preprocessing(new Normalization({ axis: null, mean: 0, variance: 4 }));
    const scaled = hasScaled ? (scaling.apply(weights) as tf.SymbolicTensor) : weights;
    const table = emb.layers.embedding({ inputDim: 40, outputDim: 2, combiner });
    const pooled = table.apply([ids, scaled] as never) as tf.SymbolicTensor;
    const outputs = tf.layers.dense({ units: 1 }).apply(pooled) as tf.SymbolicTensor;
    const model = tf.model({ inputs: [ids, weights], outputs });
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.01 }) as never, loss: 'meanSquaredError' });
    return model;
  }

  for (const combiner of ['sum', 'mean'] as const) {
    it(`are refused in rows of their own: ${combiner}`, async () => {
      const random = new Random(combiner.length);
      const model = makeModel(combiner, combiner === 'mean');
      const tensors = tf.memory().numTensors;
      for (let round = 0; round < 3; round++) {
        const lengths = Array.from({ length: 4 }, () => random.whole(1, 4));
        // As many values in as many rows, one of which moves to the next row.
        const moved = [...lengths];
        const from = moved.findIndex((length, row) => length > 0 && row < 3);
        moved[from]! -= 1;
        moved[from + 1]! += 1;
        const y = tf.ones([4, 1]);
        const [ids, weights] = [rowsOf(lengths, 'int32'), rowsOf(lengths, 'float32')];
        // Captured from the second step on, and refused as before.
        for (let step = 0; step < 3; step++) await model.trainOnBatch({ ids, weights }, y);
        const others = { ids, weights: rowsOf(moved, 'float32') };
        const told = `${moved[from]} in row ${from}`;
        await expectRejection(() => model.trainOnBatch(others, y), 'ValueError', 'weights', told);
        await expectRejection(() => model.fit(others, y, { verbose: 0, batchSize: 4 }), 'ValueError', 'weights');
        expectError(() => model.predict(others), 'ValueError', 'weights', told);
        tf.dispose(model.predict({ ids, weights }));
        y.dispose();
      }
      if (backend === 'tensorflow' && combiner === 'sum') expect(emb.stepInfo(model).reason).toBeNull();
      // Metrics of the model's steps stay, as many as after the first one.
      expect(tf.memory().numTensors).toBeLessThanOrEqual(tensors + 4);
      model.dispose();
    });
  }
});
