/** Training in unusual circumstances: hardly any ids, changing backends, optimizers that come and go. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends, skipOrFail } from '../../helpers/backends.js';
import { NaiveOptimizer } from '../../helpers/naive_optimizer.js';
import { expectClose } from '../../helpers/tensors.js';

const NAMES = Object.keys(emb.train) as emb.OptimizerName[];

function modelOf(optimizer: tf.Optimizer, kind: 'embedding' | 'raggedEmbedding' = 'embedding', args: object = {}) {
  const table = {
    inputDim: 5,
    outputDim: 3,
    inputLength: 2,
    combiner: 'mean' as const,
    embeddingsInitializer: tf.initializers.randomUniform({ seed: 1 }),
  };
  const model = tf.sequential({
    layers: [
      emb.layers[kind]({ ...table, ...args }),
      tf.layers.dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: 2 }) }),
    ],
  });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

function batch(): { x: tf.Tensor2D; y: tf.Tensor2D } {
  const x = tf.tensor2d([0, 4, 1, 1, 2, 3, 4, 0], [4, 2], 'int32');
  return { x, y: tf.tensor2d([0, 1, 1, 0], [4, 1]) };
}

async function lossesOf(model: tf.LayersModel, epochs: number): Promise<number[]> {
  const { x, y } = batch();
  const { history } = await model.fit(x, y, { epochs, verbose: 0, shuffle: false });
  tf.dispose([x, y]);
  return history['loss'] as number[];
}

describeForBackends('training with hardly any ids', () => {
  let tensors: number;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  for (const name of NAMES) {
    it(`${name}: padding only leaves the table as it is and trains the rest`, async () => {
      for (const shape of [
        [2, 2],
        [2, 0],
        [0, 2],
      ] as [number, number][]) {
        // prettier-ignore
        const optimizer = emb.train[name]();
        const model = modelOf(optimizer, 'raggedEmbedding', { inputLength: null });
        const x = tf.fill(shape, -1, 'int32');
        const y = tf.ones([shape[0], 1]);
        const [table, bias] = [0, 2].map((i) => Array.from(model.getWeights()[i]!.dataSync()));
        for (let i = 0; i < 2; i++) await model.trainOnBatch(x, y);
        expect(Array.from(model.getWeights()[0]!.dataSync())).toEqual(table!);
        const after = Array.from(model.getWeights()[2]!.dataSync());
        // A batch of nothing has a stock gradient that the wasm backend does not even fill with zeros.
        if (shape[0] > 0) expect(after).not.toEqual(bias!);
        tf.dispose([x, y]);
        model.dispose();
        optimizer.dispose();
      }
    });

    it(`${name}: one row of one column, and the last id, are stepped`, () => {
      for (const rows of [1, 3]) {
        const optimizer = emb.train[name]({ learningRate: 0.1 });
        const table = tf.tidy(() => tf.variable(tf.ones([rows, 1])));
        optimizer.minimize(() => emb.ops.embeddingBag(table, [rows - 1], [0, 1], { combiner: 'sum' }).sum());
        const [...values] = table.dataSync();
        const expected = [[1]];
        new NaiveOptimizer(name, { learningRate: 0.1 }).step(expected, new Map([[0, [1]]]));
        expect(values.pop()).toBeCloseTo(expected[0]![0]!, 5);
        expect(values).toEqual(new Array<number>(rows - 1).fill(1));
        table.dispose();
        optimizer.dispose();
      }
    });
  }
});

describe('training on one backend after another', () => {
  let before: string;
  beforeAll(async () => {
    await tf.ready();
    before = tf.getBackend();
  });
  afterEach(async () => {
    await tf.setBackend(before);
  });

  for (const name of NAMES) {
    it(`${name}: table and slots move along`, async () => {
      const backends = ['cpu', 'wasm', 'tensorflow'];
      try {
        await import('@tensorflow/tfjs-node');
        await import('@tensorflow/tfjs-backend-wasm');
      } catch (error) {
        skipOrFail((error as Error).message);
        return;
      }
      const run = async (order: readonly string[]): Promise<number[]> => {
        await tf.setBackend(order[0]!);
        const optimizer = emb.train[name]({ learningRate: 0.05 });
        const model = modelOf(optimizer);
        const losses: number[] = [];
        for (const backend of order) {
          await tf.setBackend(backend);
          losses.push(...(await lossesOf(model, 2)));
        }
        model.dispose();
        optimizer.dispose();
        return losses;
      };
      const expected = await run(['cpu', 'cpu', 'cpu', 'cpu']);
      for (let first = 0; first < backends.length; first++) {
        const order = [0, 1, 2, 3].map((i) => backends[(first + i) % backends.length]!);
        const losses = await run(order);
        losses.forEach((loss, i) => expect(loss).toBeCloseTo(expected[i]!, 5));
      }
    });
  }
});

describeForBackends('optimizers that come and go', () => {
  let tensors: number;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  it('keep two models of equal names apart', async () => {
    const shared = emb.train.adagrad();
    const [a, b] = [modelOf(shared, 'embedding', { name: 'same' }), modelOf(shared, 'embedding', { name: 'same' })];
    for (let i = 0; i < 3; i++) expect(await lossesOf(a, 1)).toEqual(await lossesOf(b, 1));
    a.dispose();
    b.dispose();
    shared.dispose();
  });

  it('train on after compile with another one, and after their own disposal', async () => {
    const [first, second] = [emb.train.adam(), emb.train.adagradMomentum({ momentum: 0.9 })];
    const model = modelOf(first);
    const losses = await lossesOf(model, 2);
    model.compile({ optimizer: second, loss: 'meanSquaredError' });
    losses.push(...(await lossesOf(model, 2)));
    first.dispose();
    first.dispose();
    model.compile({ optimizer: first, loss: 'meanSquaredError' });
    losses.push(...(await lossesOf(model, 2)));
    losses.forEach((loss, i) => expect(loss).toBeLessThan(i === 0 ? Infinity : losses[i - 1]!));
    model.dispose();
    first.dispose();
    second.dispose();
  });

  it('train within fitDataset, and while the model predicts', async () => {
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    const model = modelOf(optimizer);
    const rows = [[0, 4], [1, 1], [2, 3], [4, 0]]; // prettier-ignore
    const data = tf.data.array(rows).map((ids) => {
      return { xs: tf.tensor1d(ids as number[], 'int32'), ys: tf.tensor1d([1]) };
    });
    const { history } = await model.fitDataset(data.batch(3), {
      epochs: 3,
      verbose: 0,
      callbacks: {
        onBatchEnd: () => {
          const x = tf.zeros([1, 2], 'int32');
          tf.tidy(() => void model.predict(x));
          x.dispose();
          return Promise.resolve();
        },
      },
    });
    const losses = history['loss'] as number[];
    expect(losses[2]).toBeLessThan(losses[0]!);
    model.dispose();
    optimizer.dispose();
  });
});

describeForBackends('steps that are none', () => {
  it('begins a warm-up at rate 0 as if that step had not been, but for what momentum remembers', () => {
    const rate = (step: number): number => 0.1 * step;
    for (const name of NAMES) {
      const [warm, plain] = [0, 1].map(() => tf.tidy(() => tf.variable(tf.tensor2d([[1, -2], [0.5, 3]])))); // prettier-ignore
      const optimizer = emb.train[name]({ learningRate: rate });
      const step = (each: tf.Optimizer, table: tf.Variable, factor: number): void => {
        const loss = (): tf.Scalar => emb.ops.embeddingBag(table, [0], [0, 1], { combiner: 'sum' }).mul(factor).sum();
        each.minimize(loss, false, [table]);
      };
      step(optimizer, warm!, 3);
      expect(Array.from(warm!.dataSync())).withContext(name).toEqual([1, -2, 0.5, 3]);
      for (let i = 0; i < 3; i++) step(optimizer, warm!, 1);
      expect(warm!.dataSync().every(Number.isFinite)).withContext(name).toBeTrue();
      if (name === 'sgd' || name === 'ftrl') {
        const late = emb.train[name]({ learningRate: (i) => rate(i + 1) });
        for (let i = 0; i < 3; i++) step(late, plain!, 1);
        expectClose(warm!.dataSync(), plain!.dataSync());
        late.dispose();
      }
      optimizer.dispose();
      tf.dispose([warm!, plain!]);
    }
  });

  it('leaves an outer tape whole where a step within it fails', () => {
    const table = tf.tidy(() => tf.variable(tf.ones([2, 1])));
    const optimizer = emb.train.sgd();
    tf.tidy(() => {
      const x = tf.tensor1d([2, 3]);
      const slope = tf.grad((each) => {
        const square = each.square();
        const failing = (): void =>
          void optimizer.minimize(() => emb.ops.embeddingBag(table, [7], [0, 1], { combiner: 'sum' }).sum());
        expect(failing).toThrowError(emb.ValueError, /7 at position 0/);
        return square.mul(each).sum();
      })(x);
      expectClose(slope.dataSync(), [12, 27], 1, 'slope', 1e-5);
    });
    optimizer.minimize(() => emb.ops.embeddingBag(table, [1], [0, 1], { combiner: 'sum' }).sum());
    expect(table.dataSync()[1]).toBeCloseTo(0.99, 6);
    optimizer.dispose();
    table.dispose();
  });
});
