/** Loops of the user's own: gradients are computed, changed and applied. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeEmulator } from '../backends/emulator/describe_emulator.js';
import { describeForBackends } from '../helpers/backends.js';
import { pooledDensely, rowsOf } from '../helpers/dense_oracle.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { expectClose, expectNoLeak } from '../helpers/tensors.js';
import {
  DIM,
  Problem,
  ROWS,
  SEEN,
  byLookup,
  expectGradients,
  valuesOf,
  type Loss,
  withFreshProblem,
} from './two_tables.js';

const NAMES = Object.keys(emb.train) as emb.OptimizerName[];

function itTakesGradients(): void {
  let problem: Problem;
  let optimizer: emb.SparseOptimizer;
  withFreshProblem((...fresh) => ([problem, optimizer] = fresh));

  it('gives tables the rows that were touched, all else tensors, and nothing more', () => {
    const { value, grads } = optimizer.computeGradients(() => problem.loss());
    expectGradients(grads, problem.oracle(), problem.touched);
    const loss = tf.tidy(() => problem.loss(pooledDensely).dataSync()[0]!);
    expect(value.dataSync()[0]).toBeCloseTo(loss, 5);
    tf.dispose([value, grads]);
  });

  it('takes a function that returns a scalar, and nothing else', () => {
    for (const run of [
      (f: unknown) => optimizer.computeGradients(f as () => tf.Scalar),
      (f: unknown) => optimizer.minimize(f as () => tf.Scalar),
    ]) {
      // The first step of all makes what the optimizer keeps.
      expectError(() => run(undefined), 'TypeError', 'f');
      expectNoLeak(() => {
        tf.tidy(() => {
          for (const f of [null, 7, problem]) expectError(() => run(f), 'TypeError', 'f');
          expectError(() => run(() => 7), 'TypeError', 'f', '7');
          expectError(() => run(() => problem.users.mul(2)), 'ValueError', 'f', /shape \[\d+, \d+\]/);
        });
      });
    }
  });

  it('adds a dense use of the table: all of its rows', () => {
    const tied: Loss = (pool) => problem.loss(pool).add(problem.users.square().sum());
    const { value, grads } = optimizer.computeGradients(() => tied(byLookup));
    const every = Array.from({ length: ROWS }, (_, row) => row);
    expectGradients(grads, problem.oracle(tied), { ...problem.touched, [problem.users.name]: every });
    tf.dispose([value, grads]);
  });

  it('counts per-id weights, norms and ids that stand for nothing', () => {
    const { users } = problem;
    const lookUp = (): tf.Tensor =>
      emb.ops.embeddingBag(users, [1, -1, 4, 1], [0, 2, 4], {
        combiner: 'sum',
        weights: [2, 3, 0.5, 1],
        outOfRange: 'zero',
        maxNorm: 0.5,
      });
    const { value, grads } = optimizer.computeGradients(() => lookUp().sum());
    const slices = grads[users.name] as emb.IndexedSlices;
    expect(Array.from(slices.indices.dataSync())).toEqual([1, 4]);
    const dense = slices.toDense();
    const { grads: expected, value: again } = tf.variableGrads(() => lookUp().sum(), [users]);
    expectClose(valuesOf(dense), valuesOf(expected[users.name]!), 1);
    tf.dispose([value, grads, dense, expected, again]);
  });

  for (const name of NAMES) {
    it(`applies what was computed as minimize does: ${name}`, () => {
      const [steps, whole] = [new Problem(3), new Problem(3)];
      const [mine, other] = [emb.train[name]({ learningRate: 0.1 }), emb.train[name]({ learningRate: 0.1 })];
      for (let step = 0; step < 4; step++) {
        const next = [[step], [step + 3]];
        const { value, grads } = mine.computeGradients(() => steps.loss(byLookup, SEEN, next), steps.variables);
        mine.applyGradients(grads);
        tf.dispose([value, grads]);
        other.minimize(() => whole.loss(byLookup, SEEN, next), false, whole.variables);
        steps.values().forEach((values, i) => expectClose(values, whole.values()[i]!, 1, `${name}, step ${step}`));
      }
      for (const each of [mine, other, steps, whole]) each.dispose();
    });
  }

  it('applies what it is given: scaled, accumulated over batches, dense', () => {
    const batches = [SEEN, [[0, 2], [8]], [[5], [5, 1, 1, 6]]];
    const sum: Record<string, Float32Array> = {};
    let grads: emb.GradientMap = {};
    for (const seen of batches) {
      for (const [name, values] of Object.entries(problem.oracle((pool) => problem.loss(pool, seen)))) {
        sum[name] = values.map((value, i) => value + (sum[name]?.[i] ?? 0));
      }
      const next = optimizer.computeGradients(() => problem.loss(byLookup, seen));
      const total: emb.GradientMap = {};
      for (const name of Object.keys(next.grads)) {
        total[name] = name in grads ? grads[name].add(next.grads[name]) : next.grads[name].mul(1);
      }
      tf.dispose([next, grads] as never);
      grads = total;
    }
    const before = problem.values();
    const scaled = Object.fromEntries(
      Object.keys(grads).map((name) => [name, grads[name].mul(1 / 3)]),
    ) as emb.GradientMap;
    scaled[problem.items.name].dispose();
    scaled[problem.items.name] = tf.tidy(() => {
      const slices = grads[problem.items.name] as emb.IndexedSlices;
      return slices.toDense().mul(1 / 3);
    });
    optimizer.applyGradients(scaled);
    problem.variables.forEach((variable, i) => {
      const expected = before[i]!.map((value, at) => value - (0.5 * sum[variable.name]![at]!) / 3);
      expectClose(valuesOf(variable), expected, 1, variable.name);
    });
    tf.dispose([grads, scaled]);
    expect((scaled[problem.users.name] as emb.IndexedSlices).isDisposed).toBeTrue();
  });

  it('leaves a variable without an entry as it is, its slots and step count included', async () => {
    const adam = emb.train.adam({ learningRate: 0.1, lazy: false });
    adam.minimize(() => problem.loss());
    const stateOf = async (): Promise<Record<string, number[]>> => {
      const weights = await adam.getWeights();
      return Object.fromEntries(weights.map(({ name, tensor }) => [name, Array.from(tensor.dataSync())]));
    };
    const [before, state] = [problem.values(), await stateOf()];
    const { value, grads } = adam.computeGradients(() => problem.loss());
    adam.applyGradients([
      { name: problem.users.name, tensor: grads[problem.users.name] },
      { name: problem.items.name, tensor: null },
    ]);
    const [users, items, kernel] = problem.values();
    expect(users).not.toEqual(before[0]!);
    expect([items!, kernel!]).toEqual([before[1]!, before[2]!]);
    const after = await stateOf();
    expect(after['iter']).toEqual([2]);
    for (const [name, values] of Object.entries(state)) {
      if (name.startsWith(problem.items.name)) expect(after[name]).withContext(name).toEqual(values);
    }
    adam.applyGradients({});
    expect(problem.values()).toEqual([users!, items!, kernel!]);
    adam.dispose();
    tf.dispose([value, grads]);
  });

  it('takes gradients of zero as a step of no length', () => {
    const before = problem.values();
    const { value, grads } = optimizer.computeGradients(() => problem.loss());
    const zeros = Object.fromEntries(Object.keys(grads).map((name) => [name, grads[name].mul(0)]));
    optimizer.applyGradients(zeros);
    expect(problem.values()).toEqual(before);
    tf.dispose([value, grads, zeros] as never);
  });

  it('steps every row of a table whose gradient is a tensor', () => {
    const decaying = emb.train.sgd({ learningRate: 0.5, weightDecay: 0.5 });
    const before = problem.values();
    const { value, grads } = decaying.computeGradients(() => problem.loss());
    const dense = (grads[problem.users.name] as emb.IndexedSlices).toDense();
    const gradient = valuesOf(dense);
    decaying.applyGradients({ [problem.users.name]: dense });
    const expected = before[0]!.map((value, i) => value / 2 - 0.5 * gradient[i]!);
    expectClose(valuesOf(problem.users), expected, 1);
    tf.dispose([value, grads, dense]);
    decaying.dispose();
  });

  it('forgets results that are thrown away', () => {
    const twin = new Problem();
    const other = emb.train.sgd({ learningRate: 0.5 });
    for (let i = 0; i < 3; i++) {
      expectNoLeak(() => tf.tidy(() => void optimizer.computeGradients(() => problem.loss(byLookup, [[8, 2]], [[4]]))));
      const lost = optimizer.computeGradients(() => problem.loss(byLookup, [[6, 6]], [[2]]));
      optimizer.minimize(() => problem.loss());
      tf.dispose([lost.value, lost.grads]);
      other.minimize(() => twin.loss());
      expect(problem.values()).toEqual(twin.values());
    }
    twin.dispose();
    other.dispose();
  });

  it('applies gradients of an earlier pass, and more than once', () => {
    const { value, grads } = optimizer.computeGradients(() => problem.loss());
    const oracle = problem.oracle();
    const start = problem.values();
    optimizer.minimize(() => tf.tidy(() => problem.kernel.sum()), false, [problem.kernel]);
    for (let i = 0; i < 2; i++) optimizer.applyGradients(grads);
    [problem.users, problem.items].forEach((table, i) => {
      const expected = start[i]!.map((value, at) => value - oracle[table.name]![at]!);
      expectClose(valuesOf(table), expected, 1);
    });
    tf.dispose([value, grads]);
  });

  it('knows varList and frozen tables', () => {
    const { users, items, kernel } = problem;
    const keysOf = (varList?: tf.Variable[]): string[] => {
      const { value, grads } = optimizer.computeGradients(() => problem.loss(), varList);
      const keys = Object.keys(grads).sort();
      tf.dispose([value, grads]);
      return keys;
    };
    expect(keysOf([users, kernel])).toEqual([users.name, kernel.name].sort());
    expect(keysOf([items])).toEqual([items.name]);
    users.trainable = false;
    expect(keysOf([users, items])).toEqual([items.name]);
    expect(keysOf()).toEqual([items.name, kernel.name].sort());
    users.trainable = true;
    expect(keysOf()).toEqual([users.name, items.name, kernel.name].sort());
  });

  it('counts the penalty of a table that layers share once per touched row', () => {
    const table = emb.embeddingTable({
      inputDim: ROWS,
      outputDim: DIM,
      weights: [new Random(4).floats(ROWS * DIM)],
      embeddingsRegularizer: tf.regularizers.l2({ l2: 0.25 }),
    });
    const layers = [0, 1].map(() => emb.layers.embedding({ table, combiner: 'sum' }));
    const inputs = [SEEN, [[1, 2, 3]]].map((rows) => tf.tensor2d(rows, [rows.length, 3], 'int32'));
    const { value, grads } = optimizer.computeGradients(() => {
      const pooled = layers.map((layer, i) => (layer.apply(inputs[i]!) as tf.Tensor).sum<tf.Scalar>());
      return tf.addN([...pooled, ...layers.flatMap((layer) => layer.calculateLosses())]);
    });
    const variable = table.variable!;
    const slices = grads[variable.name] as emb.IndexedSlices;
    expect(Array.from(slices.indices.dataSync())).toEqual([1, 2, 3, 5, 7]);
    const rows = variable.arraySync() as number[][];
    const counts: Record<number, number> = { 1: 3, 2: 1, 3: 3, 5: 1, 7: 1 };
    const expected = [1, 2, 3, 5, 7].flatMap((row) => rows[row]!.map((w) => counts[row]! + 2 * 0.25 * w));
    expectClose(slices.values.dataSync(), expected, 1);
    tf.dispose([value, grads, inputs]);
    for (const layer of layers) layer.dispose();
  });

  it('penalizes no rows for ids that stand for nothing', () => {
    const layer = emb.layers.embedding({
      inputDim: ROWS,
      outputDim: DIM,
      combiner: 'sum',
      outOfRange: 'zero',
      weights: [new Float32Array(ROWS * DIM).fill(1)],
      embeddingsRegularizer: tf.regularizers.l2({ l2: 0.5 }),
    });
    const ids = tf.tensor2d([[2, -1, ROWS, 2]], [1, 4], 'int32');
    const { value, grads } = optimizer.computeGradients(() => {
      return tf.addN([(layer.apply(ids) as tf.Tensor).sum<tf.Scalar>().mul<tf.Scalar>(0), ...layer.calculateLosses()]);
    });
    expectClose(value.dataSync(), [0.5 * DIM]);
    const [slices] = Object.values(grads) as [emb.IndexedSlices];
    expect(Array.from(slices.indices.dataSync())).toEqual([2]);
    expectClose(slices.values.dataSync(), new Array(DIM).fill(1));
    tf.dispose([value, grads, ids]);
    layer.dispose();
  });

  it('refuses a constraint that rows cannot keep, however gradients came', () => {
    const layer = emb.layers.embedding({
      inputDim: ROWS,
      outputDim: DIM,
      embeddingsConstraint: tf.constraints.maxNorm({ axis: 0, maxValue: 1 }),
      weights: [new Float32Array(ROWS * DIM).fill(1)],
    });
    const ids = tf.tensor2d([[1]], [1, 1], 'int32');
    tf.dispose([layer.apply(ids) as tf.Tensor, ids]);
    const table = layer.getWeights()[0] as tf.Variable;
    const gradient = tf.ones(table.shape);
    expectError(() => optimizer.applyGradients({ [table.name]: gradient }), 'ValueError', 'embeddingsConstraint');
    expect(table.dataSync().every((value) => value === 1)).toBeTrue();
    gradient.dispose();
    layer.dispose();
  });

  it('refuses what does not fit, before anything is written', () => {
    const { users, items, kernel } = problem;
    const { value, grads } = optimizer.computeGradients(() => problem.loss());
    const [small, whole, gone] = [tf.ones([2, 2]), tf.ones([ROWS, DIM], 'int32'), tf.ones([ROWS, DIM])];
    gone.dispose();
    const lost = (grads[users.name] as emb.IndexedSlices).mul(1);
    lost.dispose();
    lost.dispose();
    const narrow = new emb.IndexedSlices({
      indices: tf.tensor1d([0], 'int32'),
      values: tf.ones([1, DIM]),
      denseShape: [ROWS - 1, DIM],
    });
    const before = problem.values();
    const apply = (given: unknown) => (): void => optimizer.applyGradients(given as emb.Gradients);
    const about = (name: string): string => `grads["${name}"]`;
    const rest = { [kernel.name]: grads[kernel.name] as tf.Tensor };
    expectError(apply({ ...rest, nobody: small }), 'ValueError', 'grads', /nobody/);
    expectError(apply({ ...rest, [users.name]: small }), 'ValueError', about(users.name), '[2, 2]');
    expectError(apply({ ...rest, [users.name]: narrow }), 'ValueError', about(users.name), `[${ROWS - 1}, ${DIM}]`);
    expectError(apply({ ...rest, [users.name]: whole }), 'TypeError', about(users.name), 'int32');
    expectError(apply({ ...rest, [users.name]: gone }), 'RuntimeError', about(users.name), 'disposed');
    expectError(apply({ ...rest, [users.name]: lost }), 'RuntimeError', about(users.name), 'disposed');
    expectError(apply({ ...rest, [users.name]: [1] }), 'TypeError', about(users.name));
    const twice = { name: items.name, tensor: grads[items.name] as emb.Gradient };
    expectError(apply([twice, twice]), 'ValueError', about(items.name), 'several');
    for (const bad of [undefined, null, 3, 'grads', [[items.name]], [null]])
      expectError(apply(bad), 'TypeError', 'grads');
    expect(problem.values()).toEqual(before);
    expect(optimizer.iterations).toBe(0);
    tf.dispose([value, grads, small, whole, narrow] as never);
  });
}

describeForBackends('gradients of an emb.train optimizer', itTakesGradients);
describeEmulator('gradients of an emb.train optimizer, 2 devices', { chips: 2, coresPerChip: 1 }, itTakesGradients, [
  'cpu',
  'tensorflow',
]);

describeEmulator('gradients through distributedEmbedding', { chips: 2, coresPerChip: 1 }, () => {
  for (const dpInput of [true, false]) {
    it(`are those of its tables, dpInput: ${dpInput}, and are stepped where they lie`, () => {
      const random = new Random(2);
      const tables = [6, 9, 5].map((rows) => random.floats(rows * DIM));
      const ids = [[[1, 5, 1], [0, 0, 2]], [[8, 8, 8], [3, 4, 5]], [[4, 1, 1], [4, 2, 0]]]; // prettier-ignore
      const layer = emb.layers.distributedEmbedding({
        embeddings: [6, 9, 5].map((inputDim) => ({ inputDim, outputDim: DIM, combiner: 'sum' as const })),
        strategy: 'memory_balanced',
        columnSliceThreshold: 30,
        dpInput,
      });
      layer.build();
      layer.setWeights(tables);
      const inputs = dpInput
        ? ids
        : layer.plan!.ranks.map((rank) => rank.tableParallel!.inputIdsGlobal.map((input) => ids[input]));
      const lookUp = (): tf.Scalar => {
        const pooled = layer.apply(inputs) as tf.Tensor[];
        return tf.addN(
          pooled.map((each, i) =>
            each
              .square()
              .sum()
              .mul<tf.Scalar>(i + 1),
          ),
        );
      };
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      const { value, grads } = optimizer.computeGradients(lookUp);
      optimizer.applyGradients(grads);
      layer.getWeights().forEach((variable, i) => {
        const expected = tf.tidy(() => {
          const table = tf.tensor2d(tables[i]!, [tables[i]!.length / DIM, DIM]);
          const loss = (each: tf.Tensor): tf.Tensor =>
            pooledDensely(each, ids[i]!)
              .square()
              .sum()
              .mul(i + 1);
          return table.sub(tf.grad(loss)(table).mul(0.1)).dataSync<'float32'>();
        });
        expect(Array.from((grads[(variable as tf.Variable).name] as emb.IndexedSlices).indices.dataSync())).toEqual(
          rowsOf(ids[i]!),
        );
        expectClose(variable.dataSync(), expected, 1, `table ${i}`);
      });
      expect(Object.keys(grads).length).toBe(3);
      tf.dispose([value, grads]);
      optimizer.dispose();
      layer.dispose();
    });
  }
});
