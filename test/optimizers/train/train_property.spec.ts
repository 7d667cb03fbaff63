/** Every hyper-parameter does what it says: drawn configs against an optimizer that shares no code with the package. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { NaiveOptimizer, type Matrix, type NaiveConfig } from '../../helpers/naive_optimizer.js';
import { Random } from '../../helpers/random.js';
import { expectClose } from '../../helpers/tensors.js';

const NAMES = Object.keys(emb.train) as emb.OptimizerName[];
const ROWS = 7;
const DIM = 3;
const STEPS = 4;

type Draw = (random: Random) => unknown;

const between =
  (low: number, high: number): Draw =>
  (random) =>
    low + random.next() * (high - low);
const either: Draw = (random) => random.chance(0.5);

const COMMON: Record<string, Draw> = {
  learningRate: (random) => {
    const rate = 0.05 + random.next() / 4;
    return random.chance(0.3) ? (step: number) => rate / (1 + step) : rate;
  },
  clipValue: (random) => random.pick<unknown>([0.2, [-0.1, 0.3], [null, 0.15], [-0.25, null]]),
  clipNorm: between(0.2, 1),
  clipWeightMin: between(-0.6, -0.2),
  clipWeightMax: between(0.2, 0.6),
  weightDecay: between(0.05, 0.4),
  multiplyWeightDecayByLearningRate: either,
};

const OWN: Record<emb.OptimizerName, Record<string, Draw>> = {
  sgd: { momentum: between(0.2, 0.95), nesterov: either, lazy: either },
  adagrad: { initialAccumulatorValue: between(0.05, 0.5), epsilon: between(0.01, 1) },
  rowWiseAdagrad: { initialAccumulatorValue: between(0.05, 0.5), epsilon: between(0.01, 1) },
  adagradMomentum: {
    initialAccumulatorValue: between(0, 0.5),
    momentum: between(0.2, 0.95),
    useNesterov: either,
    exponent: between(1.5, 3),
    beta2: (random) => (random.chance(0.5) ? 1 : 0.5 + random.next() / 3),
    epsilon: between(0.01, 1),
    lazy: either,
  },
  adam: {
    beta1: between(0.5, 0.95),
    beta2: between(0.5, 0.99),
    epsilon: between(0.01, 1),
    biasCorrection: either,
    amsgrad: either,
    sumInsideSqrt: either,
    lazy: either,
  },
  adamW: {
    beta1: between(0.5, 0.95),
    beta2: between(0.5, 0.99),
    epsilon: between(0.01, 1),
    amsgrad: either,
    lazy: either,
  },
  rmsprop: {
    rho: between(0.5, 0.95),
    momentum: (random) => (random.chance(0.5) ? 0 : 0.2 + random.next() / 2),
    epsilon: between(0.01, 1),
    centered: either,
    lazy: either,
  },
  ftrl: {
    initialAccumulatorValue: between(0.05, 0.5),
    learningRatePower: between(-0.9, -0.2),
    l1: between(0, 0.2),
    l2: between(0, 0.2),
    beta: between(0, 0.5),
    multiplyLinearByLearningRate: either,
  },
};

/** A config with some of the fields; `field` is always among them. */
function drawConfig(name: emb.OptimizerName, field: string, random: Random): Record<string, unknown> {
  const draws = { ...COMMON, ...OWN[name] };
  const fields = Object.keys(draws).filter((each) => each === field || random.chance(0.4));
  return Object.fromEntries(fields.map((each) => [each, draws[each]!(random)]));
}

/** Which rows a bag takes; ids repeat within bags and across them. */
function drawIds(random: Random): number[][] {
  return Array.from({ length: 3 }, () => Array.from({ length: 2 }, () => random.whole(0, ROWS - 1)));
}

function drawMatrix(random: Random): Matrix {
  return Array.from({ length: ROWS }, () => Array.from(random.floats(DIM, -0.5, 0.5)));
}

/** The gradient of `sum(pooled * factors)`, by row. */
function gradientOf(ids: number[][], factors: Matrix): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  ids.forEach((bag, b) => {
    for (const id of bag) {
      const row = rows.get(id) ?? new Array<number>(DIM).fill(0);
      rows.set(
        id,
        row.map((sum, c) => sum + factors[b]![c]!),
      );
    }
  });
  return rows;
}

function expectToFollow(name: emb.OptimizerName, config: Record<string, unknown>, random: Random): void {
  const expected = drawMatrix(random);
  const table = tf.tidy(() => tf.variable(tf.tensor2d(expected)));
  const optimizer = emb.train[name](config);
  const naive = new NaiveOptimizer(name, config as NaiveConfig);
  for (let step = 0; step < STEPS; step++) {
    const ids = drawIds(random);
    const factors = ids.map(() => Array.from(random.floats(DIM)));
    const loss = (): tf.Scalar =>
      (emb.embeddingLookup(table, ids, { combiner: 'sum' }) as tf.Tensor).mul(tf.tensor2d(factors)).sum();
    optimizer.minimize(loss, false, [table]);
    naive.step(expected, gradientOf(ids, factors));
    const what = `${name} ${JSON.stringify(config)}, step ${step}`;
    expectClose(table.dataSync(), expected.flat(), 1, what, 1e-5);
  }
  optimizer.dispose();
  table.dispose();
}

describeForBackends('hyper-parameters of emb.train', () => {
  for (const name of NAMES) {
    it(`${name}: each does what it says`, () => {
      const tensors = tf.memory().numTensors;
      const random = new Random(NAMES.indexOf(name) + 1);
      expectToFollow(name, {}, random);
      for (const field of [...Object.keys(COMMON), ...Object.keys(OWN[name])]) {
        for (let i = 0; i < 3; i++) expectToFollow(name, drawConfig(name, field, random), random);
      }
      expect(tf.memory().numTensors).toBe(tensors);
    });
  }
});
