/** A loss over two tables and a kernel, by lookups and without any. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { pooledDensely, rowsOf } from '../helpers/dense_oracle.js';
import { Random } from '../helpers/random.js';
import { expectClose } from '../helpers/tensors.js';

export const ROWS = 9;
export const DIM = 4;

export type Pool = (table: tf.Tensor, ids: number[][], combiner: 'sum' | 'mean') => tf.Tensor2D;
export type Loss = (pool: Pool) => tf.Scalar;

export const byLookup: Pool = (table, ids, combiner) => emb.embeddingLookup(table, ids, { combiner }) as tf.Tensor2D;

export const SEEN = [[1, 7, 1], [3, 3, 5]]; // prettier-ignore
export const NEXT = [[7], [0]];

function tableOf(values: Float32Array): tf.Variable<tf.Rank.R2> {
  return tf.tidy(() => tf.variable(tf.tensor2d(values, [ROWS, DIM])));
}

/** Two tables and a kernel; `users` is looked up twice. */
export class Problem {
  readonly users: tf.Variable<tf.Rank.R2>;
  readonly items: tf.Variable<tf.Rank.R2>;
  readonly kernel: tf.Variable<tf.Rank.R2>;

  /** `make`: makes the tables, from their values. */
  constructor(seed = 1, make = tableOf) {
    const random = new Random(seed);
    this.users = make(random.floats(ROWS * DIM));
    this.items = make(random.floats(ROWS * DIM));
    this.kernel = tf.tidy(() => tf.variable(tf.tensor2d(random.floats(DIM), [DIM, 1])));
  }

  /** The rows of each table that `loss` touches. */
  get touched(): Record<string, number[]> {
    return { [this.users.name]: rowsOf(SEEN, NEXT), [this.items.name]: rowsOf(NEXT) };
  }

  get variables(): tf.Variable[] {
    return [this.users, this.items, this.kernel];
  }

  loss(pool: Pool = byLookup, seen = SEEN, next = NEXT): tf.Scalar {
    const { users, items, kernel } = this;
    const score = pool(users, seen, 'mean')
      .add<tf.Tensor2D>(pool(users, next, 'sum'))
      .mul<tf.Tensor2D>(pool(items, next, 'sum'));
    return score.matMul(kernel).sub(1).square().mean();
  }

  /** Gradients without any lookup. */
  oracle(loss: Loss = (pool) => this.loss(pool)): Record<string, Float32Array> {
    return tf.tidy(() => {
      const { grads } = tf.variableGrads(() => loss(pooledDensely), this.variables);
      return Object.fromEntries(Object.entries(grads).map(([name, each]) => [name, valuesOf(each)]));
    });
  }

  values(): Float32Array[] {
    return this.variables.map(valuesOf);
  }

  dispose(): void {
    tf.dispose(this.variables);
  }
}

export function valuesOf(tensor: tf.Tensor): Float32Array {
  return tensor.dataSync<'float32'>().slice();
}

/** Expects the same gradients as the oracle, in the form that is promised. */
export function expectGradients(
  grads: emb.GradientMap,
  oracle: Readonly<Record<string, Float32Array>>,
  touched: Readonly<Record<string, readonly number[]>>,
): void {
  expect(Object.keys(grads).sort()).toEqual(Object.keys(oracle).sort());
  for (const [name, expected] of Object.entries(oracle)) {
    const gradient = grads[name] as emb.Gradient;
    const rows = touched[name];
    expect(gradient instanceof emb.IndexedSlices)
      .withContext(name)
      .toBe(rows !== undefined);
    if (gradient instanceof emb.IndexedSlices) {
      expect(gradient.indices.dtype).toBe('int32');
      expect(Array.from(gradient.indices.dataSync())).toEqual([...rows!]);
      expect(gradient.values.shape).toEqual([rows!.length, DIM]);
      expect([...gradient.denseShape]).toEqual([ROWS, DIM]);
      const dense = gradient.toDense();
      expectClose(valuesOf(dense), expected, 1, name);
      dense.dispose();
    } else {
      expectClose(valuesOf(gradient), expected, 1, name);
    }
  }
}

/** A problem and an optimizer of its own for each spec, which leaves no tensor behind. */
export function withFreshProblem(use: (problem: Problem, optimizer: emb.SparseOptimizer) => void): void {
  let problem: Problem;
  let optimizer: emb.SparseOptimizer;
  let tensors: number;
  beforeEach(() => {
    tensors = tf.memory().numTensors;
    problem = new Problem();
    optimizer = emb.train.sgd({ learningRate: 0.5 });
    use(problem, optimizer);
  });
  afterEach(() => {
    problem.dispose();
    optimizer.dispose();
    expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors);
  });
}
