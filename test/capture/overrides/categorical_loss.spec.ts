/** Categorical cross-entropy and the gradient of softmax as ops of ours: the numbers of tfjs, in captured steps too. */
import { SOFTMAX_GRADIENT } from '../../../src/capture/overrides/softmax_gradient.js';
import { nativeCategoricalLoss } from '../../../src/capture/overrides/losses.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { STEP_OPS } from '../../../src/backends/tensorflow/step_kernels.js';
import { Random } from '../../helpers/random.js';
import { opsRun } from './ops_run.js';
import { describeSteps } from '../training.js';

const EPSILON = 1e-7;

/** As tfjs-layers computes it. */
function stockLoss(labels: tf.Tensor, output: tf.Tensor, isSparse: boolean): tf.Tensor {
  const classes = output.shape.at(-1)!;
  const clip = (x: tf.Tensor): tf.Tensor => x.clipByValue(EPSILON, 1 - EPSILON);
  const given = isSparse ? clip(output) : output;
  const ofClasses = isSparse ? tf.oneHot(labels.flatten().floor().toInt(), classes).reshape(output.shape) : labels;
  return ofClasses
    .toFloat()
    .mul(clip(given.div(given.sum(-1, true))).log())
    .sum(-1)
    .neg();
}

/** The largest difference, of numbers of about the size of `scale`. */
function distance(a: tf.Tensor, b: tf.Tensor): number {
  expect(a.shape).toEqual(b.shape);
  const [one, other] = [a.dataSync<'float32'>(), b.dataSync<'float32'>()];
  return one.reduce((most, value, i) => Math.max(most, Math.abs(value - other[i]!) / (1 + Math.abs(other[i]!))), 0);
}

const SHAPES: readonly number[][] = [
  [1, 2],
  [7, 3],
  [4, 5, 16],
  [9, 17],
  [300, 40],
  [3, 20_000],
];

/** Rows that sum up to 1 or do not; some are at the ends, where tfjs clips. */
function probabilitiesOf(random: Random, shape: readonly number[]): tf.Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const numbers = random.floats(size, 0, 1).map((each) => (random.chance(0.1) ? 0 : random.chance(0.05) ? 1e-8 : each));
  const given = tf.tensor(numbers, [...shape]);
  return random.chance(0.5) ? given : given.div(given.sum(-1, true).add(1e-3));
}

interface Case {
  readonly labels: tf.Tensor;
  readonly output: tf.Tensor;
  readonly upstream: tf.Tensor;
}

function caseOf(random: Random, shape: readonly number[], isSparse: boolean, isFew = false): Case {
  const output = probabilitiesOf(random, shape);
  const [classes, rows] = [shape.at(-1)!, output.size / shape.at(-1)!];
  const numbered = Float32Array.from(
    { length: rows },
    () => random.whole(-1, classes + 1) + (random.chance(0.1) ? 0.5 : 0),
  );
  const weights = isFew ? fewOf(random, rows, classes).reshape([...shape]) : probabilitiesOf(random, shape);
  const labels = isSparse ? tf.tensor1d(numbered) : weights;
  return { labels, output, upstream: tf.tensor(random.floats(rows, -2, 2), shape.slice(0, -1)) };
}

/** Weights of a class or two each, and of none in some rows. */
function fewOf(random: Random, rows: number, classes: number): tf.Tensor {
  const weights = new Float32Array(rows * classes);
  for (let row = 0; row < rows; row++) {
    for (let i = random.whole(0, 3); i > 0; i--) weights[row * classes + random.whole(0, classes)] = random.whole(1, 3);
  }
  return tf.tensor2d(weights, [rows, classes]);
}

type Loss = (labels: tf.Tensor, output: tf.Tensor, isSparse: boolean) => tf.Tensor;
const ownLoss: Loss = (...given) => nativeCategoricalLoss(...given)!;

function gradientOf(loss: Loss, { labels, output, upstream }: Case, isSparse: boolean): tf.Tensor {
  return tf.grad((x) => loss(labels, x, isSparse).mul(upstream).sum())(output);
}

describeSteps('Categorical cross-entropy as one op', () => {
  for (const isSparse of [false, true]) {
    it(`agrees with that of tfjs, and so do gradients: ${isSparse ? 'numbers of' : 'weights of'} classes`, () => {
      const random = new Random(5);
      const cases = [false, true].flatMap((isFew) => SHAPES.map((shape) => ({ shape, isFew })));
      for (const { shape, isFew } of cases) {
        tf.tidy(() => {
          const given = caseOf(random, shape, isSparse, isFew);
          const [labels, output] = [given.labels, given.output];
          expect(distance(ownLoss(labels, output, isSparse), stockLoss(labels, output, isSparse))).toBeLessThan(2e-5);
          const [own, stock] = [ownLoss, stockLoss].map((loss) => gradientOf(loss, given, isSparse));
          expect(distance(own!, stock!)).withContext(shape.join('x')).toBeLessThan(5e-5);
        });
      }
    });
  }

  it('says that a row with a number that is none has no loss', () => {
    tf.tidy(() => {
      const output = tf.tensor2d([0.5, NaN, 0.5, 0.2, 0.3, 0.5], [2, 3]);
      for (const [labels, isSparse] of [
        [tf.tensor1d([0, 2]), true] as const,
        [tf.eye(3).slice(0, 2), false] as const,
      ]) {
        const [first, second] = ownLoss(labels, output, isSparse).dataSync();
        expect(first).toBeNaN();
        expect(second).toBeGreaterThan(0);
      }
    });
  });

  it('has no loss where a number is none, whatever class the label names', () => {
    tf.tidy(() => {
      const output = tf.tensor2d([0.5, NaN, 0.5, Infinity, 0.5, 0.5, 0.2, 0.3, 0.5], [3, 3]);
      const ofNone = ownLoss(tf.tensor1d([-1, 3, NaN]), output.slice([0, 0], [3, 3]), true).dataSync();
      expect([...ofNone].map(Math.abs)).toEqual([NaN, 0, 0]);
      for (const weights of [tf.zeros([3, 3]), tf.tensor2d([1, 0, 0, 0, 1, 0, 0, 0, 0], [3, 3])]) {
        const [found, stock] = [ownLoss, stockLoss].map((loss) => [...loss(weights, output, false).dataSync()]);
        expect(found!.map(Math.abs)).toEqual([NaN, NaN, 0]);
        expect(stock!.map(Math.abs)).toEqual([NaN, NaN, 0]);
      }
    });
  });

  it('has gradients at the very numbers to which tfjs clips', () => {
    tf.tidy(() => {
      const output = tf.tensor2d([EPSILON, 1 - EPSILON, EPSILON, 1 - EPSILON], [2, 2]);
      const upstream = tf.tensor1d([1, -2]);
      for (const [labels, isSparse] of [
        [tf.tensor1d([0, 1]), true] as const,
        [tf.tensor1d([1, 0]), true] as const,
        [tf.eye(2), false] as const,
      ]) {
        const [own, stock] = [ownLoss, stockLoss].map((loss) =>
          gradientOf(loss, { labels, output, upstream }, isSparse),
        );
        expect(distance(own!, stock!)).toBeLessThan(1e-5);
        expect(own!.dataSync().every((slope) => slope !== 0)).toBeTrue();
      }
    });
  });

  it('has the gradients of tfjs where numbers are none, infinite or all 0, whatever has a weight', () => {
    const weights = new Float32Array(6 * 600);
    for (let row = 0; row < 6; row++) weights[row * 600 + 300] = 1;
    tf.tidy(() => {
      const numbers = new Float32Array(6 * 600).fill(0.001);
      numbers[5] = NaN;
      numbers[600 + 7] = Infinity;
      numbers.fill(0, 1200, 1800);
      numbers.fill(1e38, 1800, 2400);
      const output = tf.tensor2d(numbers, [6, 600]);
      const upstream = tf.tensor1d([1, 1, 1, 1, Infinity, NaN]);
      const given = { labels: tf.tensor2d(weights, [6, 600]), output, upstream };
      const [own, stock] = [ownLoss, stockLoss].map((loss) => gradientOf(loss, given, false).dataSync());
      own!.forEach((number, i) => expect(Number.isNaN(number)).withContext(`${i}`).toBe(Number.isNaN(stock![i]!)));
    });
  });

  it('leaves to tfjs what does not fit', () => {
    tf.tidy(() => {
      expect(nativeCategoricalLoss(tf.ones([3]), tf.ones([2, 4]), true)).toBeNull();
      expect(nativeCategoricalLoss(tf.ones([2, 3]), tf.ones([2, 4]), false)).toBeNull();
      expect(nativeCategoricalLoss(tf.ones([2]), tf.ones([2, 4], 'int32'), true)).toBeNull();
      expect(nativeCategoricalLoss(tf.ones([4]), tf.ones([4]), false)).toBeNull();
    });
  });

  it('has gradients of softmax as tfjs does', () => {
    const random = new Random(6);
    for (const shape of SHAPES) {
      tf.tidy(() => {
        const size = shape.reduce((a, b) => a * b, 1);
        const [x, weights] = [-3, -1].map((least) => tf.tensor(random.floats(size, least, 2), [...shape]));
        const gradient = (): tf.Tensor => tf.grad((logits) => tf.softmax(logits).mul(weights!).sum())(x!);
        const [own, stock] = [withOverrides([SOFTMAX_GRADIENT], gradient), gradient()];
        expect(distance(own, stock)).toBeLessThan(2e-6);
      });
    }
  });

  it('is the same for any number of threads', () => {
    const random = new Random(2);
    tf.tidy(() => {
      const { labels, output } = caseOf(random, [500, 300], true);
      const upstream = tf.ones([500]) as tf.Tensor1D;
      const limits = Float32Array.of(EPSILON, 1 - EPSILON);
      const rows = output as tf.Tensor2D;
      const usual = emb.backendInfo().kernels['EmbeddingBag']!.threads;
      try {
        const found = [1, 2].map((threads) => {
          emb.setThreads(threads);
          return [
            STEP_OPS.categoricalLoss(labels, rows, limits).dataSync(),
            STEP_OPS.categoricalLossGradient(labels, rows, limits, upstream).dataSync(),
            STEP_OPS.softmaxGradient(rows, rows).dataSync(),
          ];
        });
        expect(found[1]).toEqual(found[0]!);
      } finally {
        emb.setThreads(usual);
      }
    });
  });

  it('takes labels that name no class, empty batches and a single class', () => {
    tf.tidy(() => {
      const output = probabilitiesOf(new Random(8), [9, 3]);
      const odd = [NaN, Infinity, -Infinity, -1, -0.5, 3, 1e30, 2.9, 2 ** 24];
      const labels = tf.tensor1d(odd, 'float32');
      const [losses, gradient] = [
        ownLoss(labels, output, true).dataSync(),
        tf.grad((p) => ownLoss(labels, p, true))(output),
      ];
      // 2.9 is class 2; the others are none.
      losses.forEach((loss, i) => (i === 7 ? expect(loss).toBeGreaterThan(0) : expect(Math.abs(loss)).toBe(0)));
      // What a cast makes of NaN depends on the processor.
      const [named, rowsOfNamed] = [labels.slice(1), output.slice([1, 0])];
      expect(distance(tf.tensor1d(losses.slice(1)), stockLoss(named, rowsOfNamed, true))).toBeLessThan(1e-5);
      const ofRows = gradient.abs().sum(1).dataSync();
      ofRows.forEach((size, i) => expect(size > 0).toBe(i === 7));

      const [none, limits] = [tf.zeros<tf.Rank.R2>([0, 3]), Float32Array.of(EPSILON, 1 - EPSILON)];
      for (const empty of [tf.zeros([0]), tf.zeros([0, 3])]) {
        expect(STEP_OPS.categoricalLoss(empty, none, limits).shape).toEqual([0]);
        expect(STEP_OPS.categoricalLossGradient(empty, none, limits, tf.zeros([0])).shape).toEqual([0, 3]);
      }
      expect(STEP_OPS.softmaxGradient(none, none).shape).toEqual([0, 3]);
      // Going through rows without classes would take years.
      const endless = tf.zeros<tf.Rank.R2>([2 ** 60, 0]);
      expect(STEP_OPS.softmaxGradient(endless, endless).shape).toEqual([2 ** 60, 0]);
      expect(STEP_OPS.categoricalLoss(tf.zeros([2]), tf.zeros([2, 0]), limits).shape).toEqual([2]);

      const single = tf.tensor2d([0.2, 1, 0.5], [3, 1]);
      const weights = tf.ones([3, 1]);
      expect(distance(ownLoss(weights, single, false), stockLoss(weights, single, false))).toBeLessThan(1e-6);
      // Numbers of a single class are an error of tfjs; the op takes them.
      expect(nativeCategoricalLoss(tf.zeros([3]), single, true)).toBeNull();
      const ofNumbers = STEP_OPS.categoricalLoss(tf.tensor1d([0, 1, 0]), single, limits).dataSync();
      ofNumbers.forEach((loss) => expect(Math.abs(loss)).toBeLessThan(1e-6));
    });
  });

  it('refuses shapes that do not fit', () => {
    tf.tidy(() => {
      const [rows, limits] = [tf.ones<tf.Rank.R2>([4, 3]), Float32Array.of(0, 1)];
      for (const [labels, received] of [
        [tf.ones([5]), /labels.*expected shape \[4\] or \[4, 3\].*\[5\]/],
        [tf.ones([4, 2]), /labels.*expected shape.*\[4, 2\]/],
        [tf.ones([4, 3, 1]), /labels.*expected shape.*\[4, 3, 1\]/],
        [tf.scalar(1), /labels.*expected shape.*\[\]/],
      ] as const) {
        expect(() => STEP_OPS.categoricalLoss(labels, rows, limits)).toThrowError(emb.ValueError, received);
      }
      expect(() => STEP_OPS.categoricalLoss(tf.ones([4]), rows, Float32Array.of(1))).toThrowError(
        emb.ValueError,
        /limits/,
      );
      expect(() => STEP_OPS.categoricalLossGradient(tf.ones([4]), rows, limits, tf.ones([3]))).toThrowError(
        emb.ValueError,
        /upstream/,
      );
      expect(() => STEP_OPS.softmaxGradient(tf.ones([4, 2]), rows)).toThrowError(emb.ValueError, /upstream/);
    });
  });

  const LOSSES = ['sparseCategoricalCrossentropy', 'categoricalCrossentropy'] as const;
  for (const loss of LOSSES) {
    it(`is part of captured steps, which train as op by op: ${loss}`, async () => {
      const random = new Random(7);
      const [batch, classes] = [12, 30];
      const x = tf.tensor2d(
        Int32Array.from({ length: batch * 3 }, () => random.whole(0, 50)),
        [batch, 3],
        'int32',
      );
      const numbers = Array.from({ length: batch }, () => random.whole(0, classes));
      const y = tf.tidy(() =>
        loss === LOSSES[0]
          ? tf.tensor2d(numbers, [batch, 1])
          : tf.oneHot(tf.tensor1d(numbers, 'int32'), classes).toFloat(),
      );
      const losses: number[][] = [];
      for (const isCaptured of [true, false]) {
        const initializer = tf.initializers.randomUniform({ minval: -0.5, maxval: 0.5, seed: 3 });
        const table = { inputDim: 50, outputDim: 8, combiner: 'mean' as const, seed: 3, inputShape: [3] };
        const model = tf.sequential({
          layers: [
            emb.layers.embedding(table),
            tf.layers.dense({ units: classes, activation: 'softmax', kernelInitializer: initializer }),
          ],
        });
        const optimizer = emb.train.adam({ learningRate: 0.05 });
        model.compile({ optimizer, loss, metrics: ['accuracy'] });
        emb.setCapture(isCaptured, model);
        const found: number[] = [];
        const names = await opsRun(/^Embedding/, async () => {
          for (let step = 0; step < 30; step++) found.push(((await model.trainOnBatch(x, y)) as number[])[0]!);
        });
        // The loss is one op in steps op by op too.
        expect(names).toContain('EmbeddingCategoricalLossGrad');
        expect(names.includes('EmbeddingSoftmaxGrad')).toBe(isCaptured);
        expect(emb.stepInfo(model).captured).toBe(isCaptured);
        tf.dispose(model.evaluate(x, y));
        losses.push(found);
        optimizer.dispose();
        model.dispose();
      }
      losses[0]!.forEach((value, step) => expect(Math.abs(value - losses[1]![step]!)).toBeLessThanOrEqual(2e-6));
      tf.dispose([x, y]);
    });
  }
});
