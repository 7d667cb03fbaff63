/** Masks that go into models within a model and out of them, as if their layers were its own. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { adopt } from '../../../src/tfjs/models/own_models.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

type Symbolic = tf.SymbolicTensor;

const WORDS = [
  [1, 2, 0, 0],
  [0, 3, 4, 0],
  [5, 1, 2, 3],
];

/** Layers with weights that do not depend on where they are. */
function parts(): { words: tf.layers.Layer; scale: tf.layers.Layer; read: tf.layers.Layer } {
  const uniform = (seed: number): ReturnType<typeof tf.initializers.randomUniform> => {
    return tf.initializers.randomUniform({ minval: -1, maxval: 1, seed });
  };
  return {
    words: emb.layers.embedding({
      inputDim: 6,
      outputDim: 3,
      maskZero: true,
      embeddingsInitializer: uniform(1),
    }) as never,
    scale: tf.layers.dense({ units: 3, kernelInitializer: uniform(2) }),
    read: tf.layers.gru({ units: 2, kernelInitializer: uniform(3), recurrentInitializer: uniform(4) }),
  };
}

function flat(): tf.LayersModel {
  const { words, scale, read } = parts();
  const input = tf.input({ shape: [4], dtype: 'int32' });
  const outputs = [words, scale, read].reduce((x, layer) => layer.apply(x) as Symbolic, input);
  return tf.model({ inputs: input, outputs });
}

/** The embedding in one model, the rest in another one that has a model of its own. */
function nested(): tf.LayersModel {
  const { words, scale, read } = parts();
  const ids = tf.input({ shape: [4], dtype: 'int32' });
  const begin = tf.model({ inputs: ids, outputs: words.apply(ids) as Symbolic });
  const [x, y] = [tf.input({ shape: [4, 3] }), tf.input({ shape: [4, 3] })];
  const scaled = tf.model({ inputs: y, outputs: scale.apply(y) as Symbolic });
  const end = tf.model({ inputs: x, outputs: read.apply(scaled.apply(x) as Symbolic) as Symbolic });
  const input = tf.input({ shape: [4], dtype: 'int32' });
  return tf.model({ inputs: input, outputs: end.apply(begin.apply(input) as Symbolic) as Symbolic });
}

async function run(make: () => tf.LayersModel, steps: number): Promise<number[]> {
  const model = make();
  const ids = tf.tensor2d(WORDS, undefined, 'int32');
  const labels = tf.ones([3, 2]);
  if (steps > 0) {
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.5 }), loss: 'meanSquaredError' });
    await model.fit(ids, labels, { epochs: steps, batchSize: 3, shuffle: false, verbose: 0 });
  }
  const predicted = model.predict(ids) as tf.Tensor;
  const applied = model.apply(ids) as tf.Tensor;
  const values = Array.from(predicted.dataSync());
  expect(Array.from(applied.dataSync())).toEqual(values);
  const weights = model.weights.map((weight) => weight.read() as tf.Tensor);
  model.dispose();
  (model.optimizer as tf.Optimizer | undefined)?.dispose();
  tf.dispose([ids, labels, predicted, applied, weights]);
  return values;
}

describe('masks of models within models', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it('leave predictions as they are without inner models', async () => {
    await expectNoLeakAsync(async () => {
      const values = await run(flat, 0);
      expect(await run(nested, 0)).toEqual(values);
    });
  });

  it('leave training as it is', async () => {
    const values = await run(flat, 3);
    expect(await run(nested, 3)).toEqual(values);
  });

  it('of layers that are called with a list, outside of all scopes, go with the result', () => {
    const { words } = parts();
    const ids = tf.tensor2d(WORDS, undefined, 'int32');
    tf.dispose(words.apply([ids]) as tf.Tensor);
    const before = tf.memory().numTensors;
    tf.dispose(words.apply([ids]) as tf.Tensor);
    expect(tf.memory().numTensors).toBe(before);
    words.dispose();
    ids.dispose();
  });

  it('are given to a model by whoever calls it, too', () => {
    tf.tidy(() => {
      const read = tf.layers.simpleRNN({ units: 1, kernelInitializer: 'ones', recurrentInitializer: 'ones' });
      const x = tf.input({ shape: [3, 1] });
      const model = tf.model({ inputs: x, outputs: read.apply(x) as Symbolic });
      const steps = tf.tensor3d([[[0.5], [0.25], [9]]]);
      const mask = tf.tensor2d([[1, 1, 0]], [1, 3], 'bool');
      const found = (model.apply(steps, { mask }) as tf.Tensor).dataSync()[0]!;
      expect(found).toBeCloseTo(Math.tanh(0.25 + Math.tanh(0.5)), 6);
      expect(mask.isDisposed).toBeFalse();
      model.dispose();
    });
  });
});

describe('masks of layers that merge tensors', () => {
  beforeAll(() => tf.setBackend('cpu'));

  /** Words of which 0 is none, and features that a layer makes of numbers, joined and read by an LSTM. */
  function model(join: tf.layers.Layer): tf.LayersModel {
    const words = emb.input({ shape: [4], dtype: 'int32' });
    const features = tf.input({ shape: [4, 2] });
    const rows = tf.layers.embedding({ inputDim: 6, outputDim: 2, maskZero: true }).apply(words) as Symbolic;
    const made = tf.layers.dense({ units: 2 }).apply(features) as Symbolic;
    const read = tf.layers.lstm({ units: 2 }).apply(join.apply([rows, made])) as Symbolic;
    return tf.model({ inputs: [words, features], outputs: read });
  }

  for (const make of [tf.layers.concatenate, tf.layers.add, tf.layers.multiply, tf.layers.average]) {
    it(`train with stock layers: ${make({ name: 'join' }).getClassName()}`, async () => {
      await expectNoLeakAsync(async () => {
        const trained = model(make());
        trained.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
        const [ids, numbers, labels] = [tf.tensor2d(WORDS, undefined, 'int32'), tf.ones([3, 4, 2]), tf.ones([3, 2])];
        const before = trained.getWeights().map((weight) => weight.dataSync());
        const { history } = await trained.fit([ids, numbers], labels, { epochs: 2, verbose: 0 });
        expect(history['loss']?.every((loss) => Number.isFinite(loss))).toBeTrue();
        const after = trained.getWeights().map((weight) => weight.dataSync());
        after.forEach((weight, i) => expect(weight).not.toEqual(before[i]!));
        trained.dispose();
        trained.optimizer.dispose();
        tf.dispose([ids, numbers, labels]);
      });
    });
  }

  it('say of other arguments what tfjs says of them', () => {
    tf.tidy(() => {
      const [x, m] = [tf.ones([2, 2]), tf.tensor1d([1, 0], 'bool')];
      for (const [layer, what] of [
        [adopt(tf.layers.add()), ''],
        [adopt(tf.layers.concatenate()), ' for Concatenate'],
      ] as const) {
        expect(layer.computeMask([x, x], undefined)).toBeNull();
        expect(layer.computeMask([x, x], [null, null] as never)).toBeNull();
        expect(() => layer.computeMask(x, [m, m])).toThrowError(new RegExp(`inputs.*should be an array${what}`, 'i'));
        expect(() => layer.computeMask([x, x], m)).toThrowError(new RegExp(`mask.*should be an array${what}`, 'i'));
        expect(() => layer.computeMask([x, x], [m])).toThrowError(/length/);
      }
      expect(Array.from((tf.layers.add().computeMask([x, x], [m, m]) as tf.Tensor).dataSync())).toEqual([1, 0]);
    });
  });

  it('join all of them, which tfjs does not', () => {
    tf.tidy(() => {
      const x = tf.ones([2, 2]);
      const masks = [tf.tensor1d([1, 1], 'bool'), null, tf.tensor1d([0, 1], 'bool')] as tf.Tensor[];
      const found = adopt(tf.layers.add()).computeMask([x, x, x], masks) as tf.Tensor;
      expect(found.shape).toEqual([2]);
      expect(Array.from(found.dataSync())).toEqual([0, 1]);
    });
  });
});

describe('layers that are called with null for their options', () => {
  it('run as in tfjs', () => {
    tf.tidy(() => {
      const x = tf.ones([1, 2]);
      const layers = [tf.layers.dense({ units: 1, kernelInitializer: 'ones' }), tf.layers.dropout({ rate: 0 })];
      for (const layer of layers) for (const given of [x, [x]]) layer.apply(given, null as never);
      expect(Array.from((layers[0]!.apply([x], null as never) as tf.Tensor).dataSync())).toEqual([2]);
      expect(Array.from((layers[1]!.apply([x], null as never) as tf.Tensor).dataSync())).toEqual([1, 1]);
      layers[0]!.dispose();
    });
  });
});
