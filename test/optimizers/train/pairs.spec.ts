/**
 * Two settings of an optimizer at once: every two values of two settings meet in some case, and tables and dense variables
 * follow an optimizer that shares no code with the package.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { NaiveOptimizer, type Matrix, type NaiveConfig } from '../../helpers/naive_optimizer.js';
import { caseText, pairCases, type Settings } from '../../helpers/pairs/covering.js';
import { Random } from '../../helpers/random.js';
import { expectClose } from '../../helpers/tensors.js';

const NAMES = Object.keys(emb.train) as emb.OptimizerName[];
const ROWS = 7;
const DIM = 3;
const STEPS = 3;
/** Rates of a dense optimizer that is given. */
const DENSE_RATE = 0.5;

const FIELDS = {
  learningRate: [0.1, (step: number) => 0.2 / (1 + step)],
  clipValue: [undefined, 0.2, [-0.1, 0.3], [null, 0.15]],
  clipNorm: [undefined, 0.6],
  globalClipNorm: [undefined, 0.9],
  clipWeightMin: [undefined, -0.3, 0.35],
  clipWeightMax: [undefined, 0.3],
  weightDecay: [undefined, null, 0.2],
  multiplyWeightDecayByLearningRate: [undefined, true, false],
} as const;

const EITHER = [undefined, true, false];
const OWN: Readonly<Record<emb.OptimizerName, Settings>> = {
  sgd: { momentum: [undefined, 0.9], nesterov: EITHER, lazy: EITHER },
  adagrad: { initialAccumulatorValue: [undefined, 0.4], epsilon: [undefined, 0.1] },
  rowWiseAdagrad: { initialAccumulatorValue: [undefined, 0.4], epsilon: [undefined, 0.1] },
  adagradMomentum: {
    initialAccumulatorValue: [0.1, 0.4],
    momentum: [undefined, 0.9],
    useNesterov: EITHER,
    exponent: [undefined, 3],
    beta2: [undefined, 0.6],
    epsilon: [undefined, 0.1],
    lazy: EITHER,
  },
  adam: {
    beta1: [undefined, 0.6],
    beta2: [undefined, 0.7],
    epsilon: [0.01, 0.2],
    biasCorrection: EITHER,
    amsgrad: EITHER,
    sumInsideSqrt: EITHER,
    lazy: EITHER,
  },
  adamW: { beta1: [undefined, 0.6], beta2: [undefined, 0.7], epsilon: [0.01, 0.2], amsgrad: EITHER, lazy: EITHER },
  rmsprop: {
    rho: [undefined, 0.6],
    momentum: [undefined, 0.5],
    epsilon: [0.01, 0.2],
    centered: EITHER,
    lazy: EITHER,
  },
  ftrl: {
    initialAccumulatorValue: [undefined, 0.4],
    learningRatePower: [undefined, -0.7],
    l1: [undefined, 0.1],
    l2: [undefined, 0.05],
    beta: [undefined, 0.3],
    multiplyLinearByLearningRate: EITHER,
  },
};

/** How a step is taken, and what is beside the table. */
const USES = {
  dense: ['none', 'default', 'given'],
  call: ['minimize', 'applyGradients'],
  /** Whether the table is in the loss as a whole, too: then each row has a gradient. */
  isWhole: [false, true],
} as const;

type Given = Readonly<Record<string, unknown>>;

/** The argument that an error must name; null: none is due. */
function refusal(name: emb.OptimizerName, { weightDecay, clipWeightMin, clipWeightMax }: Given): string | null {
  if (name === 'adamW' && weightDecay === null) return 'weightDecay';
  return Number(clipWeightMin) > Number(clipWeightMax) ? 'clipWeightMin' : null;
}

function makeOptimizer(name: emb.OptimizerName, given: Given, stock: tf.Optimizer | null = null): emb.SparseOptimizer {
  const { dense: _dense, call: _call, isWhole: _isWhole, ...config } = given;
  return emb.train[name]({ ...config, dense: stock });
}

/** The optimizer of the dense variables, once more: what is said of tables alone is off, and every element is stepped. */
function naiveDense(name: emb.OptimizerName, given: Given): NaiveOptimizer {
  if (given['dense'] === 'given') return new NaiveOptimizer('sgd', { learningRate: DENSE_RATE });
  const config = given as NaiveConfig;
  const { learningRate, initialAccumulatorValue, epsilon, momentum, useNesterov } = config;
  // Where the dense optimizer is another one.
  if (name === 'adagradMomentum') {
    // As tfjs has momentum: the rate comes last.
    return new NaiveOptimizer('adagradMomentum', {
      learningRate,
      momentum,
      useNesterov,
      exponent: Infinity,
    } as NaiveConfig);
  }
  if (name === 'rowWiseAdagrad' || name === 'ftrl') {
    return new NaiveOptimizer('adagrad', { learningRate, initialAccumulatorValue, epsilon } as NaiveConfig);
  }
  const off = { clipValue: undefined, clipNorm: undefined, clipWeightMin: undefined, clipWeightMax: undefined };
  const decay = name === 'adamW' ? {} : { weightDecay: undefined };
  return new NaiveOptimizer(name, { ...config, ...off, ...decay } as unknown as NaiveConfig);
}

const matrixOf = (random: Random, rows: number): Matrix =>
  Array.from({ length: rows }, () => Array.from(random.floats(DIM, -0.5, 0.5)));

/** A step's loss, linear in everything, so that its gradients are these factors. */
class Step {
  readonly ids: number[][];
  readonly ofBags: Matrix;
  readonly ofTable: Matrix | null;
  readonly ofKernel: Matrix | null;

  constructor(random: Random, { isWhole, dense }: Given) {
    this.ids = Array.from({ length: 3 }, () => Array.from({ length: 2 }, () => random.whole(0, ROWS - 1)));
    this.ofBags = matrixOf(random, 3);
    this.ofTable = isWhole === true ? matrixOf(random, ROWS) : null;
    this.ofKernel = dense === 'none' ? null : matrixOf(random, 2);
  }

  loss(table: tf.Variable, kernel: tf.Variable): tf.Scalar {
    const bags = emb.embeddingLookup(table, this.ids, { combiner: 'sum' }) as tf.Tensor;
    let sum = bags.mul(tf.tensor2d(this.ofBags)).sum();
    if (this.ofTable !== null) sum = sum.add(table.mul(tf.tensor2d(this.ofTable)).sum());
    if (this.ofKernel !== null) sum = sum.add(kernel.mul(tf.tensor2d(this.ofKernel)).sum());
    return sum as tf.Scalar;
  }

  /** Gradients by row, of the table and of the kernel, scaled together. */
  gradients(most = Infinity): Map<number, number[]>[] {
    const rows = new Map<number, number[]>(this.ofTable?.map((row, id) => [id, [...row]]));
    this.ids.forEach((bag, b) => {
      for (const id of bag)
        rows.set(
          id,
          this.ofBags[b]!.map((value, c) => value + (rows.get(id)?.[c] ?? 0)),
        );
    });
    const all = [rows, new Map(this.ofKernel?.map((row, id) => [id, row]))];
    const norm = Math.hypot(...all.flatMap((each) => [...each.values()].flat()));
    const factor = Math.min(1, most / norm);
    return all.map((each) => new Map([...each].map(([id, row]) => [id, row.map((value) => value * factor)])));
  }
}

function expectToFollow(name: emb.OptimizerName, given: Given, seed: number): void {
  const random = new Random(seed);
  const expected = [matrixOf(random, ROWS), matrixOf(random, 2)];
  const [table, kernel] = expected.map((rows) => tf.tidy(() => tf.variable(tf.tensor2d(rows)))) as tf.Variable[];
  const stock = given['dense'] === 'given' ? tf.train.sgd(DENSE_RATE) : null;
  const optimizer = makeOptimizer(name, given, stock);
  const { weightDecay, globalClipNorm } = given as NaiveConfig & { globalClipNorm?: number };
  const naive = [
    new NaiveOptimizer(name, { ...(given as NaiveConfig), weightDecay: weightDecay ?? undefined } as NaiveConfig),
    naiveDense(name, given),
  ];
  for (let i = 0; i < STEPS; i++) {
    const step = new Step(random, given);
    const loss = (): tf.Scalar => step.loss(table!, kernel!);
    const variables = given['dense'] === 'none' ? [table!] : [table!, kernel!];
    if (given['call'] === 'minimize') optimizer.minimize(loss, false, variables);
    else {
      tf.tidy(() => optimizer.applyGradients(optimizer.computeGradients(loss, variables).grads));
    }
    step.gradients(globalClipNorm).forEach((gradient, each) => naive[each]!.step(expected[each]!, gradient));
    const what = `${name} ${caseText(given)}, step ${i}`;
    expectClose(table!.dataSync(), expected[0]!.flat(), 1, what, 1e-5);
    if (given['dense'] !== 'none') expectClose(kernel!.dataSync(), expected[1]!.flat(), 1, `${what}, dense`, 1e-5);
  }
  optimizer.dispose();
  stock?.dispose();
  tf.dispose([table, kernel]);
}

const CASES = NAMES.map((name) => {
  const settings: Settings = { ...FIELDS, ...OWN[name], ...USES };
  return { name, ...pairCases(settings, (given) => refusal(name, given)) };
});

describeForBackends(
  'two settings of emb.train at once',
  () => {
    for (const { name, legal, refused } of CASES) {
      it(`${name}: tables and dense variables follow both`, () => {
        const tensors = tf.memory().numTensors;
        legal.forEach((given, seed) => expectToFollow(name, given, seed + 1));
        expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors);
      });

      it(`${name}: refuses what does not go together`, () => {
        expect(refused.length).toBeGreaterThan(0);
        for (const { given, argument } of refused) {
          const type = given['weightDecay'] === null && name === 'adamW' ? 'TypeError' : 'ValueError';
          expectError(() => makeOptimizer(name, given), type, argument);
        }
      });
    }
  },
  ['cpu native'],
);
