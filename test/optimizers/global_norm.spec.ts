/** Clipping by the norm over tables and dense variables together. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeEmulator, emulator } from '../backends/emulator/describe_emulator.js';
import { LAYOUT_NAMES, layoutOf, place } from '../backends/emulator/tables.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { NaiveOptimizer, type Matrix } from '../helpers/naive_optimizer.js';
import { Random } from '../helpers/random.js';
import { expectClose } from '../helpers/tensors.js';
import { DIM, NEXT, Problem, ROWS, SEEN } from './two_tables.js';

const NAMES = Object.keys(emb.train) as emb.OptimizerName[];

function slices(indices: number[], values: number[][], rows: number): emb.IndexedSlices {
  return new emb.IndexedSlices({
    indices: tf.tensor1d(indices, 'int32'),
    values: tf.tensor2d(values),
    denseShape: [rows, values[0]!.length],
  });
}

function itClipsByGlobalNorm(): void {
  let tensors: number;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  const norm = Math.hypot(1, 2, 3, 4, 5);

  it('scales everything alike, and tells the norm before', () => {
    const grads = { table: slices([1, 3], [[1, 2], [3, 0]], 5), kernel: tf.tensor1d([4, -5]), none: null }; // prettier-ignore
    const clipped = emb.train.clipByGlobalNorm(grads, 2);
    expect(Object.keys(clipped.grads)).toEqual(['table', 'kernel', 'none']);
    expect(clipped.grads.none).toBeNull();
    expectClose(clipped.norm.dataSync(), [norm]);
    expect(Array.from(clipped.grads.table.indices.dataSync())).toEqual([1, 3]);
    const scaled = [1, 2, 3, 0].map((value) => (2 * value) / norm);
    expectClose(clipped.grads.table.values.dataSync(), scaled);
    expectClose(clipped.grads.kernel.dataSync(), [8 / norm, -10 / norm]);
    expect(Array.from(grads.kernel.dataSync())).toEqual([4, -5]);
    tf.dispose([grads, clipped] as never);
  });

  it('leaves gradients within the norm as they are, to the bit', () => {
    const values = Array.from(new Random(3).floats(6));
    const grads = [
      { name: 'table', tensor: slices([0, 2], [values.slice(0, 2), values.slice(2, 4)], 3) },
      { name: 'frozen', tensor: null },
      { name: 'kernel', tensor: tf.tensor1d(values.slice(4)) },
    ];
    const clipped = emb.train.clipByGlobalNorm(grads, 100);
    expect(clipped.grads.map(({ name }) => name)).toEqual(['table', 'frozen', 'kernel']);
    const [table, frozen, kernel] = clipped.grads.map(({ tensor }) => tensor);
    expect(frozen).toBeNull();
    const found = [(table as emb.IndexedSlices).values, kernel as tf.Tensor].flatMap((each) =>
      Array.from(each.dataSync()),
    );
    expect(found).toEqual(values);
    tf.dispose([grads, clipped] as never);
    const nothing = emb.train.clipByGlobalNorm({}, 1);
    expect(nothing.grads).toEqual({});
    expect(nothing.norm.dataSync()[0]).toBe(0);
    nothing.norm.dispose();
  });

  it('spoils everything where the norm is not finite', () => {
    for (const bad of [NaN, Infinity]) {
      const grads = { table: slices([1], [[1, bad]], 3), kernel: tf.tensor1d([1, 2]) };
      const clipped = emb.train.clipByGlobalNorm(grads, 1);
      expect(Array.from(clipped.grads.table.values.dataSync())).toEqual([NaN, NaN]);
      expect(Array.from(clipped.grads.kernel.dataSync())).toEqual([NaN, NaN]);
      expect(clipped.norm.dataSync()[0]!).toEqual(bad);
      tf.dispose([grads, clipped] as never);
    }
  });

  it('refuses norms and gradients of a wrong kind', () => {
    const grads = { kernel: tf.ones([2]) };
    for (const bad of [0, -1, NaN, Infinity, 1e-60]) {
      expectError(() => emb.train.clipByGlobalNorm(grads, bad), 'ValueError', 'norm');
    }
    for (const bad of ['1', null, undefined]) {
      expectError(() => emb.train.clipByGlobalNorm(grads, bad as never), 'TypeError', 'norm');
    }
    for (const bad of [undefined, 3, null]) {
      expectError(() => emb.train.clipByGlobalNorm(bad as never, 1), 'TypeError', 'grads');
    }
    expectError(() => emb.train.clipByGlobalNorm({ kernel: [1] } as never, 1), 'TypeError', 'grads["kernel"]');
    const lost = slices([1], [[1]], 2);
    lost.dispose();
    expectError(() => emb.train.clipByGlobalNorm({ lost }, 1), 'RuntimeError', 'grads["lost"]', 'disposed');
    grads.kernel.dispose();
  });
}

const LIMIT = 0.25;

/** The gradients of all variables, scaled by hand. The first ones of a problem have a norm of several times the limit. */
function scaledByHand(problem: Problem): Record<string, Float32Array> {
  const gradients = problem.oracle();
  const norm = Math.hypot(...Object.values(gradients).flatMap((values) => Array.from(values)));
  for (const name of Object.keys(gradients)) {
    gradients[name] = gradients[name]!.map((value) => (value * LIMIT) / Math.max(norm, LIMIT));
  }
  return gradients;
}

function rowsOfTable(table: tf.Variable): Matrix {
  return table.arraySync() as Matrix;
}

function touchedRows(values: Float32Array, touched: readonly number[]): Map<number, number[]> {
  return new Map(touched.map((row) => [row, Array.from(values.slice(row * DIM, (row + 1) * DIM))]));
}

/** Three steps, each beside the optimizer that shares no code with the package, on gradients scaled by hand. */
function expectToClip(name: emb.OptimizerName, problem: Problem): void {
  const dense = tf.train.sgd(0.5);
  const optimizer = emb.train[name]({ learningRate: 0.1, globalClipNorm: LIMIT, dense });
  const tables = [problem.users, problem.items];
  const free = Object.values(problem.oracle()).flatMap((values) => Array.from(values));
  expect(Math.hypot(...free)).toBeGreaterThan(2 * LIMIT);
  const naive = tables.map(() => new NaiveOptimizer(name, { learningRate: 0.1 }));
  for (let step = 0; step < 3; step++) {
    const gradients = scaledByHand(problem);
    const expected = tables.map((table, i) => {
      const rows = rowsOfTable(table);
      naive[i]!.step(rows, touchedRows(gradients[table.name]!, problem.touched[table.name]!));
      return rows;
    });
    const { kernel } = problem;
    const kernelAfter = Array.from(kernel.dataSync(), (value, i) => value - 0.5 * gradients[kernel.name]![i]!);
    if (step < 2) {
      optimizer.minimize(() => problem.loss());
    } else {
      const { value, grads } = optimizer.computeGradients(() => problem.loss());
      optimizer.applyGradients(grads);
      tf.dispose([value, grads]);
    }
    const what = `${name}, step ${step}`;
    tables.forEach((table, i) => expectClose(table.dataSync(), expected[i]!.flat(), 1, what, 1e-5));
    expectClose(kernel.dataSync(), kernelAfter, 1, `${what}, kernel`, 1e-5);
  }
  optimizer.dispose();
  dense.dispose();
}

describeForBackends('clipByGlobalNorm', itClipsByGlobalNorm);

describeForBackends('globalClipNorm', () => {
  let tensors: number;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  for (const name of NAMES) {
    it(`scales the gradients of tables and dense variables together: ${name}`, () => {
      const problem = new Problem();
      expectToClip(name, problem);
      problem.dispose();
    });
  }

  it('leaves a step whose norm is within as it is', () => {
    const [problem, other] = [new Problem(), new Problem()];
    const optimizers = [emb.train.sgd({ globalClipNorm: 1e6 }), emb.train.sgd()] as const;
    optimizers[0].minimize(() => problem.loss());
    optimizers[1].minimize(() => other.loss());
    const valuesOf = ({ variables }: Problem): Float32Array[] => variables.map((each) => each.dataSync<'float32'>());
    valuesOf(problem).forEach((values, i) => expectClose(values, valuesOf(other)[i]!, 1));
    for (const each of [problem, other, ...optimizers]) each.dispose();
  });

  it('comes before clipValue and clipNorm', () => {
    const problem = new Problem();
    const optimizer = emb.train.sgd({ learningRate: 1, globalClipNorm: LIMIT, clipValue: 0.02 });
    const users = scaledByHand(problem)[problem.users.name]!;
    const before = problem.users.dataSync();
    optimizer.minimize(() => problem.loss());
    const expected = before.map((value, i) => value - Math.min(Math.max(users[i]!, -0.02), 0.02));
    expectClose(problem.users.dataSync(), expected as Float32Array, 1);
    optimizer.dispose();
    problem.dispose();
  });
});

describeEmulator(
  'globalClipNorm, tables on 3 devices',
  { chips: 3, coresPerChip: 1 },
  () => {
    for (const layout of LAYOUT_NAMES) {
      it(`is the norm over all devices: ${layout}`, () => {
        const random = new Random(7);
        const size = { rows: ROWS, columns: DIM };
        const onDevices = (values: Float32Array): tf.Variable<tf.Rank.R2> => {
          return place(layoutOf(layout, size, emulator().count, random), values) as tf.Variable<tf.Rank.R2>;
        };
        for (const name of ['sgd', 'adagrad', 'rowWiseAdagrad', 'adam'] as const) {
          const problem = new Problem(1, onDevices);
          expectToClip(name, problem);
          problem.dispose();
        }
      });
    }
  },
  ['cpu', 'tensorflow'],
);

/** A model over tables that are shared, used twice, and stepped by an optimizer of their own. */
class Trained {
  readonly model: tf.LayersModel;
  readonly optimizer: emb.SparseOptimizer;

  constructor(config: emb.TrainConfig<'sgd'>, own: emb.SparseOptimizer) {
    const shared = emb.embeddingTable({
      inputDim: ROWS,
      outputDim: DIM,
      weights: [new Random(1).floats(ROWS * DIM)],
      embeddingsRegularizer: tf.regularizers.l2({ l2: 0.1 }),
    });
    const inputs = [0, 1].map(() => tf.input({ shape: [2], dtype: 'int32' }));
    const weights = [new Random(2).floats(ROWS * DIM)];
    const outputs = [
      emb.layers.embedding({ table: shared, combiner: 'sum' }).apply(inputs[0]!),
      emb.layers.embedding({ table: shared, combiner: 'mean' }).apply(inputs[1]!),
      emb.layers
        .embedding({ inputDim: ROWS, outputDim: DIM, combiner: 'sum', weights, optimizer: own })
        .apply(inputs[1]!),
    ] as tf.SymbolicTensor[];
    const dense = tf.layers.dense({ units: 1, kernelInitializer: 'ones' });
    const all = tf.layers.concatenate().apply(outputs) as tf.SymbolicTensor;
    this.model = tf.model({ inputs, outputs: dense.apply(all) as tf.SymbolicTensor });
    this.optimizer = emb.train.sgd(config);
    this.model.compile({ optimizer: this.optimizer, loss: 'meanSquaredError' });
  }

  /** The change of each weight in a step. */
  async change(): Promise<Float32Array[]> {
    const x = [SEEN, NEXT].map((rows) =>
      tf.tensor2d(
        rows.map((row) => [row[0]!, row.at(-1)!]),
        [2, 2],
        'int32',
      ),
    );
    const y = tf.tensor2d([[3], [-4]]);
    const before = this.model.getWeights().map((each) => each.dataSync<'float32'>().slice());
    await this.model.fit(x, y, { epochs: 1, batchSize: 2, shuffle: false, verbose: 0 });
    tf.dispose([...x, y]);
    return this.model
      .getWeights()
      .map((each, i) => each.dataSync<'float32'>().map((value, at) => value - before[i]![at]!));
  }

  dispose(): void {
    this.model.dispose();
    this.optimizer.dispose();
  }
}

async function changeOf(config: emb.TrainConfig<'sgd'>, own: emb.SparseOptimizer): Promise<Float32Array[]> {
  const trained = new Trained(config, own);
  const changes = await trained.change();
  trained.dispose();
  own.dispose();
  return changes;
}

const normOf = (values: readonly Float32Array[]): number => Math.hypot(...values.flatMap((each) => Array.from(each)));

describeForBackends('globalClipNorm in fit', () => {
  it('is over shared tables, penalties, dense layers and tables with an optimizer of their own', async () => {
    const tensors = tf.memory().numTensors;
    const learningRate = 0.5;
    const sgd = (more: emb.TrainConfig<'sgd'> = {}): emb.SparseOptimizer => emb.train.sgd({ learningRate, ...more });
    // The step of sgd is the gradient times the rate.
    const free = await changeOf({ learningRate }, sgd());
    expect(free.length).toBe(4);
    expect(free.every((each) => normOf([each]) > 0)).toBeTrue();
    const norm = normOf(free) / learningRate;
    const clipped = await changeOf({ learningRate, globalClipNorm: norm / 5 }, sgd());
    clipped.forEach((each, i) => expectClose(each, free[i]!.map((value) => value / 5), 1, `weight ${i}`)); // prettier-ignore
    // That of a table's own optimizer is over the tables that it steps.
    const own = normOf([free[1]!]) / learningRate;
    const both = await changeOf({ learningRate, globalClipNorm: norm / 5 }, sgd({ globalClipNorm: own / 20 }));
    both.forEach((each, i) => expectClose(each, free[i]!.map((value) => value / (i === 1 ? 20 : 5)), 1, `weight ${i}`)); // prettier-ignore
    const alone = await changeOf({ learningRate }, sgd({ globalClipNorm: own / 20 }));
    alone.forEach((each, i) => expectClose(each, free[i]!.map((value) => value / (i === 1 ? 20 : 1)), 1, `weight ${i}`)); // prettier-ignore
    expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors);
  });
});
