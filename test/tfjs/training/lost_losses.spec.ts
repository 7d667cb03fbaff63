/** Models whose file could not keep their loss: training them says so, and goes on once they have one. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectRejection } from '../../helpers/errors.js';
import { artifactsOf, take } from '../../layers/setup.js';

const squares = (labels: tf.Tensor, given: tf.Tensor): tf.Tensor => tf.losses.meanSquaredError(labels, given);

function build(kind: string): tf.LayersModel {
  const layers = [
    emb.layers.embedding({ inputDim: 5, outputDim: 2, inputShape: [2], combiner: 'sum', seed: 1 }),
    tf.layers.dense({ units: 1, kernelInitializer: 'ones', name: 'score' }),
  ];
  const sequential = tf.sequential({ layers });
  const model =
    kind === 'sequential' ? sequential : tf.model({ inputs: sequential.inputs, outputs: sequential.outputs });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: squares });
  return model;
}

describe('a model whose file has no loss', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  for (const kind of ['sequential', 'functional']) {
    it(`says so when it trains (${kind}), and goes on to the bit with one`, async () => {
      spyOn(console, 'warn');
      const [x, y] = [tf.tensor2d([[1, 2]], [1, 2], 'int32'), tf.ones([1, 1])];
      const model = build(kind);
      await model.trainOnBatch(x, y);
      const artifacts = await artifactsOf(model, { includeOptimizer: true });
      const loaded = (await tf.loadLayersModel(tf.io.fromMemory(artifacts))) as tf.LayersModel;
      const refused = ['RuntimeError', 'loss', 'none'] as const;
      await expectRejection(() => loaded.trainOnBatch(x, y), ...refused);
      await expectRejection(() => loaded.fit(x, y, { verbose: 0 }), ...refused);
      await expectRejection(async () => loaded.evaluate(x, y), ...refused);
      loaded.compile({ optimizer: loaded.optimizer, loss: squares });
      for (const each of [model, loaded]) await each.trainOnBatch(x, y);
      const [own, other] = [model, loaded].map((each) => each.getWeights().map((weight) => take(weight.clone())));
      expect(other).toEqual(own!);
    });
  }
});
