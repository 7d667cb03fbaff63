/** Training by rows: equal to dense training, resumable to the bit, and at home in fit. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';

const ROWS = 12;
const DIM = 5;
const STEPS = 50;

/** Ids with repeats within and across rows, the same in every run. */
function idsAt(step: number): number[][] {
  return Array.from({ length: 6 }, (_, row) => [
    (step * 3 + row) % ROWS,
    (step + row * 5) % ROWS,
    (step * 3 + row) % ROWS,
  ]);
}

function startTable(): tf.Tensor2D {
  return tf.tensor2d(
    Array.from({ length: ROWS * DIM }, (_, i) => Math.sin(i * 1.7) / 2),
    [ROWS, DIM],
  );
}

interface Sides {
  dense: () => tf.Optimizer;
  sparse: () => tf.Optimizer;
  tolerance: number;
}

const PAIRS: Record<string, Sides> = {
  sgd: { dense: () => tf.train.sgd(0.1), sparse: () => emb.train.sgd({ learningRate: 0.1 }), tolerance: 1e-6 },
  adagrad: {
    dense: () => tf.train.adagrad(0.1),
    sparse: () => emb.train.adagrad({ learningRate: 0.1 }),
    tolerance: 1e-6,
  },
  adam: {
    dense: () => tf.train.adam(0.01),
    sparse: () => emb.train.adam({ learningRate: 0.01, lazy: false }),
    tolerance: 1e-5,
  },
};

/** Trains a table that two lookups share (and, when tied, a dense product uses too); returns what became of it. */
function train(optimizer: tf.Optimizer, isTied: boolean): Float32Array[] {
  const table = tf.variable(startTable());
  const kernel = tf.variable(tf.tensor2d([0.3, -0.2, 0.5, 0.1, -0.4], [DIM, 1]));
  for (let step = 0; step < STEPS; step++) {
    optimizer.minimize(
      () => {
        const ids = idsAt(step);
        const seen = emb.embeddingLookup(table, ids, { combiner: 'mean' }) as tf.Tensor2D;
        const next = emb.embeddingLookup(
          table,
          ids.map(([first]) => [first!]),
          { combiner: 'sum' },
        ) as tf.Tensor2D;
        const score = seen
          .mul(next)
          .matMul(kernel as unknown as tf.Tensor2D)
          .add(seen.sum(1, true));
        const loss = score.sub(1).square().mean();
        return (
          isTied
            ? loss.add(
                seen
                  .matMul(table as unknown as tf.Tensor2D, false, true)
                  .square()
                  .mean(),
              )
            : loss
        ) as tf.Scalar;
      },
      false,
      [table, kernel],
    );
  }
  const results = [table.dataSync<'float32'>(), kernel.dataSync<'float32'>()];
  tf.dispose([table, kernel]);
  optimizer.dispose();
  return results;
}

function farthest(a: Float32Array, b: Float32Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

/** Models are saved to and loaded from memory. */
async function copyOf(model: tf.LayersModel): Promise<tf.LayersModel> {
  let artifacts: tf.io.ModelArtifacts | undefined;
  const keep = tf.io.withSaveHandler((given) => {
    artifacts = given;
    return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } });
  });
  await model.save(keep, { includeOptimizer: true });
  // Through text, as a file would be.
  const { modelTopology, trainingConfig, ...weights } = artifacts!;
  const texts = JSON.parse(JSON.stringify({ modelTopology, trainingConfig })) as tf.io.ModelArtifacts;
  return tf.loadLayersModel(tf.io.fromMemory({ ...weights, ...texts }));
}

function smallModel(optimizer: tf.Optimizer, table: object = {}): tf.LayersModel {
  // Other draws may leave every unit dead: no bag here is far from its neighbours.
  const embeddingsInitializer = tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed: 2 });
  const sizes = { inputDim: 30, outputDim: 4, combiner: 'mean', inputShape: [3] };
  const model = tf.sequential({
    layers: [
      emb.layers.embedding({ ...sizes, embeddingsInitializer, ...table } as never),
      tf.layers.dense({ units: 4, activation: 'relu', kernelInitializer: tf.initializers.glorotNormal({ seed: 3 }) }),
      tf.layers.dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: 4 }) }),
    ],
  });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

function smallData(): { x: tf.Tensor2D; y: tf.Tensor2D } {
  const ids = Int32Array.from({ length: 96 }, (_, i) => (i * 7 + (i % 5) * 3) % 30);
  const y = Float32Array.from({ length: 32 }, (_, i) => Math.cos(i));
  return { x: tf.tensor2d(ids, [32, 3], 'int32'), y: tf.tensor2d(y, [32, 1]) };
}

async function losses(model: tf.LayersModel, epochs: number): Promise<number[]> {
  const { x, y } = smallData();
  const { history } = await model.fit(x, y, { epochs, batchSize: 8, shuffle: false, verbose: 0 });
  tf.dispose([x, y]);
  return history['loss'] as number[];
}

/** A copy that is saved and loaded must train on as the model itself does. */
async function expectToGoOnEqually(model: tf.LayersModel): Promise<void> {
  const copy = await copyOf(model);
  expect(await losses(copy, 2)).toEqual(await losses(model, 2));
  copy.optimizer.dispose();
  copy.dispose();
}

describeForBackends('emb.train', () => {
  afterEach(() => tf.disposeVariables());

  for (const [name, { dense, sparse, tolerance }] of Object.entries(PAIRS)) {
    for (const isTied of [false, true]) {
      it(`ends where dense ${name} ends${isTied ? ', tied weights included' : ''}`, () => {
        const expected = train(dense(), isTied);
        const actual = train(sparse(), isTied);
        actual.forEach((values, i) => expect(farthest(values, expected[i]!)).toBeLessThanOrEqual(tolerance));
      });
    }
  }

  for (const name of ['sgd', 'adagrad', 'adam', 'rowWiseAdagrad', 'adagradMomentum', 'ftrl'] as const) {
    it(`goes on to the bit after saving and loading: ${name}`, async () => {
      const model = smallModel(emb.train[name]({ learningRate: 0.05 }));
      await losses(model, 3);
      const copy = await copyOf(model);
      expect(await losses(copy, 3)).toEqual(await losses(model, 3));
      copy.dispose();
      model.dispose();
    });
  }

  it('trains in fit without leaking a tensor', async () => {
    const model = smallModel(emb.train.adagrad({ learningRate: 0.1 }));
    const first = await losses(model, 1);
    const before = tf.memory().numTensors;
    const rest = await losses(model, 5);
    expect(tf.memory().numTensors).toBe(before);
    expect(rest.at(-1)!).toBeLessThan(first[0]!);
    model.dispose();
  });

  it('gives every tensor back when model and optimizer are disposed', async () => {
    const before = tf.memory().numTensors;
    const optimizer = emb.train.adam({ learningRate: 0.1 });
    const model = smallModel(optimizer);
    await losses(model, 2);
    await optimizer.getWeights();
    model.dispose();
    optimizer.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('frees the slots of a model with the model', async () => {
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    const model = smallModel(optimizer);
    await losses(model, 1);
    const before = tf.memory().numTensors;
    const { length } = model.weights;
    model.dispose();
    expect(before - tf.memory().numTensors).toBe(length + 1);
    optimizer.dispose();
  });

  it('frees the state of a model that is gone when it goes on with another one', async () => {
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    const first = smallModel(optimizer);
    await losses(first, 1);
    first.dispose();
    const second = smallModel(optimizer);
    await losses(second, 1);
    const slots = (await optimizer.getWeights()).filter(({ name }) => name.endsWith('/accumulators'));
    expect(slots.length).toBe(1);
    second.dispose();
    optimizer.dispose();
  });

  it('goes on equally after a load, whatever dense layers were frozen when', async () => {
    // Stock state is a list: a layer that is thawed late stands last in it, and first in the model that is loaded.
    const plans: [first: boolean[], second: boolean[], saved: boolean[]][] = [
      [
        [false, true],
        [true, true],
        [true, true],
      ],
      [
        [true, true],
        [true, true],
        [false, true],
      ],
      [
        [true, false],
        [true, true],
        [true, false],
      ],
    ];
    for (const name of ['adam', 'adagrad', 'adagradMomentum'] as const) {
      for (const steps of plans) {
        const optimizer = emb.train[name]({ learningRate: 0.05 });
        const model = smallModel(optimizer);
        for (const trainable of steps) {
          trainable.forEach((each, i) => (model.layers[i + 1]!.trainable = each));
          model.compile({ optimizer, loss: 'meanSquaredError' });
          if (trainable !== steps[2]) await losses(model, 1);
        }
        await expectToGoOnEqually(model);
        model.dispose();
        optimizer.dispose();
      }
    }
  });

  it('saves nothing of dense layers that are gone', async () => {
    const optimizer = emb.train.adam({ learningRate: 0.05 });
    const first = smallModel(optimizer);
    await losses(first, 2);
    first.dispose();
    const model = smallModel(optimizer);
    await losses(model, 1);
    await expectToGoOnEqually(model);
    model.dispose();
    optimizer.dispose();
  });

  it('leaves a table alone that was frozen after compile', async () => {
    const model = smallModel(emb.train.sgd({ learningRate: 0.1 }));
    const [layer] = model.layers;
    const before = layer!.getWeights()[0]!.dataSync().slice();
    layer!.trainable = false;
    const kernel = model.layers[1]!.getWeights()[0]!.dataSync().slice();
    await losses(model, 2);
    expect(layer!.getWeights()[0]!.dataSync()).toEqual(before);
    expect(model.layers[1]!.getWeights()[0]!.dataSync()).not.toEqual(kernel);
    model.dispose();
  });

  it('steps a table with its own optimizer', async () => {
    const own = emb.train.sgd({ learningRate: 0 });
    const model = smallModel(emb.train.adagrad({ learningRate: 0.1 }), { optimizer: own });
    const before = model.layers[0]!.getWeights()[0]!.dataSync().slice();
    await losses(model, 2);
    expect(model.layers[0]!.getWeights()[0]!.dataSync()).toEqual(before);
    const copy = await copyOf(model);
    expect(await losses(copy, 2)).toEqual(await losses(model, 2));
    model.dispose();
    copy.dispose();
  });

  it('follows setLearningRate and schedules, dense part included', () => {
    const table = tf.variable(tf.ones([2, 1]));
    const bias = tf.variable(tf.scalar(1));
    const optimizer = emb.train.sgd({ learningRate: (step) => (step === 0 ? 0.5 : 0.25) });
    const step = (): void => {
      const loss = (): tf.Scalar =>
        (emb.embeddingLookup(table, [[0]], { combiner: 'sum' }) as tf.Tensor).sum().add(bias) as tf.Scalar;
      optimizer.minimize(loss, false, [table, bias]);
    };
    step();
    expect([table.dataSync()[0], bias.dataSync()[0]]).toEqual([0.5, 0.5]);
    step();
    expect([table.dataSync()[0], bias.dataSync()[0]]).toEqual([0.25, 0.25]);
    optimizer.setLearningRate(1);
    step();
    expect([table.dataSync()[0], bias.dataSync()[0]]).toEqual([-0.75, -0.75]);
    optimizer.dispose();
  });

  it('counts a regularizer once per touched row, and reports it in the loss', async () => {
    const rows = tf.tensor2d([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    const model = tf.sequential({
      layers: [
        emb.layers.embedding({
          inputDim: 3,
          outputDim: 2,
          combiner: 'sum',
          inputShape: [2],
          weights: [rows],
          embeddingsRegularizer: tf.regularizers.l2({ l2: 0.5 }),
        }),
      ],
    });
    model.compile({
      optimizer: emb.train.sgd({ learningRate: 0.1 }),
      loss: (_: tf.Tensor, y: tf.Tensor) => y.mul(0).mean(),
    });
    const x = tf.tensor2d(
      [
        [1, 1],
        [1, 1],
      ],
      [2, 2],
      'int32',
    );
    const y = tf.zeros([2, 2]);
    const loss = (await model.trainOnBatch(x, y)) as number;
    expect(loss).toBeCloseTo(0.5 * (9 + 16), 5);
    // d/dw of 0.5 * w^2 is w: each touched weight loses a tenth, once.
    const table = model.layers[0]!.getWeights()[0]!.dataSync();
    [1, 2, 2.7, 3.6, 5, 6].forEach((value, i) => expect(table[i]!).toBeCloseTo(value, 5));
    tf.dispose([x, y, rows]);
    model.dispose();
  });

  it('keeps constraints on touched rows, and names axis 1 for others', async () => {
    const make = (constraint: object): tf.LayersModel => {
      const model = tf.sequential({
        layers: [
          emb.layers.embedding({
            inputDim: 3,
            outputDim: 2,
            combiner: 'sum',
            inputShape: [1],
            weights: [
              tf.tensor2d([
                [3, 4],
                [3, 4],
                [-3, 4],
              ]),
            ],
            embeddingsConstraint: constraint as never,
          }),
        ],
      });
      model.compile({
        optimizer: emb.train.sgd({ learningRate: 1 }),
        loss: (_: tf.Tensor, y: tf.Tensor) => y.sum().mul(0.5) as tf.Scalar,
      });
      return model;
    };
    const x = tf.tensor2d([[0], [2]], [2, 1], 'int32');
    const y = tf.zeros([2, 2]);
    const unit = make(tf.constraints.unitNorm({ axis: 1 }));
    await unit.trainOnBatch(x, y);
    const rows = unit.layers[0]!.getWeights()[0]!.dataSync();
    expect(Math.hypot(rows[0]!, rows[1]!)).toBeCloseTo(1, 5);
    expect(Array.from(rows.slice(2, 4))).toEqual([3, 4]);
    const positive = make(tf.constraints.nonNeg());
    await positive.trainOnBatch(x, y);
    expect(positive.layers[0]!.getWeights()[0]!.dataSync()[4]).toBe(0);
    const columns = make(tf.constraints.maxNorm({ axis: 0, maxValue: 1 }));
    await expectAsync(columns.trainOnBatch(x, y)).toBeRejectedWithError(emb.ValueError, /axis 1/);
    tf.dispose([x, y]);
  });

  it('equals a stock optimizer in a model', async () => {
    const stock = smallModel(tf.train.adagrad(0.1), { name: 'stock' });
    const rows = smallModel(emb.train.adagrad({ learningRate: 0.1 }), { name: 'rows' });
    rows.setWeights(stock.getWeights());
    const expected = await losses(stock, 2);
    const actual = await losses(rows, 2);
    expected.forEach((loss, i) => expect(actual[i]!).toBeCloseTo(loss, 5));
    stock.dispose();
    rows.dispose();
  });

  it("refuses a table's own optimizer under a stock optimizer", async () => {
    const model = smallModel(tf.train.sgd(0.1), { optimizer: emb.train.sgd({ learningRate: 0.1 }) });
    await expectAsync(losses(model, 1)).toBeRejectedWithError(emb.ValueError, /emb\.train/);
    model.dispose();
  });
});
