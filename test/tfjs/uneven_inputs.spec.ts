/** Tensors of uneven rows, which tfjs takes: refused by name wherever a model with layers of this package is fed. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { leakFree, useCpu } from '../layers/setup.js';

/** Six values for a shape of two rows of two. */
const uneven = (): tf.Tensor2D => tf.tensor2d([[1, 2], [3, 1, 2, 0] as never], undefined, 'int32');
const even = (): tf.Tensor2D => tf.tensor2d([[1, 2], [3, 0]], undefined, 'int32'); // prettier-ignore

type Feed = (model: tf.LayersModel, x: tf.Tensor | tf.Tensor[] | tf.NamedTensorMap, y: tf.Tensor) => unknown;

const FEEDS: Readonly<Record<string, Feed>> = {
  predict: (model, x) => model.predict(x as tf.Tensor),
  predictOnBatch: (model, x) => model.predictOnBatch(x as tf.Tensor),
  evaluate: (model, x, y) => model.evaluate(x as tf.Tensor, y),
  fit: (model, x, y) => model.fit(x as tf.Tensor, y, { epochs: 1, verbose: 0 }),
  trainOnBatch: (model, x, y) => model.trainOnBatch(x as tf.Tensor, y),
};

function modelOf(count: number, isOwn = true): tf.LayersModel {
  const inputs = Array.from({ length: count }, (_, i) => {
    return tf.input({ shape: [2], dtype: isOwn ? 'int32' : 'float32', name: `in${i}` });
  });
  const parts = inputs.map((each) => {
    const layer = isOwn
      ? emb.layers.embedding({ inputDim: 5, outputDim: 2, combiner: 'sum' })
      : tf.layers.dense({ units: 2 });
    return layer.apply(each) as tf.SymbolicTensor;
  });
  const outputs = count === 1 ? parts[0]! : (tf.layers.add().apply(parts) as tf.SymbolicTensor);
  const model = tf.model({ inputs, outputs });
  model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

async function argumentOf(run: () => unknown): Promise<unknown> {
  try {
    tf.dispose((await run()) as tf.Tensor);
    return null;
  } catch (error) {
    return (error as { argument?: string }).argument ?? error;
  }
}

describe('inputs of uneven rows', () => {
  beforeAll(useCpu);

  for (const [name, feed] of Object.entries(FEEDS)) {
    it(
      `are refused by ${name}`,
      leakFree(async () => {
        const [one, two] = [modelOf(1), modelOf(2)];
        const [bad, good, y] = [uneven(), even(), tf.zeros([2, 2])];
        expect(await argumentOf(() => feed(one, bad, y))).toBe('x');
        expect(await argumentOf(() => feed(two, [good, bad], y))).toBe('x[1]');
        expect(await argumentOf(() => feed(two, [bad, good], y))).toBe('x[0]');
        expect(await argumentOf(() => feed(two, [good, good], y))).toBeNull();
        for (const model of [one, two]) {
          model.optimizer.dispose();
          model.dispose();
        }
        tf.dispose([bad, good, y]);
      }),
    );
  }

  it(
    'are refused as inputs by name',
    leakFree(async () => {
      const model = modelOf(2);
      const [bad, good, y] = [uneven(), even(), tf.zeros([2, 2])];
      expect(await argumentOf(() => model.fit({ in0: good, in1: bad }, y, { verbose: 0 }))).toBe('x[1]');
      expect(await argumentOf(() => model.fit({ in0: good, in1: good }, y, { verbose: 0 }))).toBeNull();
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([bad, good, y]);
    }),
  );

  it(
    'are a matter of tfjs in models without layers of this package, but for those within them',
    leakFree(async () => {
      const [plain, own] = [modelOf(1, false), modelOf(1)];
      const [bad, good] = [uneven(), even()];
      const floats = bad.toFloat();
      expect(await argumentOf(() => plain.predict(floats))).toBeNull();
      const input = tf.input({ shape: [2], dtype: 'int32' });
      const nested = tf.model({ inputs: input, outputs: own.apply(input) as tf.SymbolicTensor });
      expect(await argumentOf(() => nested.predict(bad))).toBe('x');
      expect(await argumentOf(() => nested.predict(good))).toBeNull();
      for (const { optimizer } of [plain, own]) optimizer.dispose();
      // With the one in it.
      for (const model of [plain, nested]) model.dispose();
      tf.dispose([bad, good, floats]);
    }),
  );

  it('leave the methods of models to others, who may replace them too', () => {
    const models = tf.LayersModel.prototype as unknown as Record<string, unknown>;
    const names = ['predictLoop', 'testLoop', 'fitLoop', 'fitDataset', 'standardizeUserDataXY', 'execute'];
    for (const name of [...names, 'makeTrainFunction', 'makeTestFunction']) {
      const method = models[name];
      models[name] = null;
      expect(models[name]).withContext(name).toBeNull();
      models[name] = method;
    }
  });
});
