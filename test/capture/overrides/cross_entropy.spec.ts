/** Binary cross-entropy as one op with one gradient: the numbers of tfjs, those that are not finite too. */
import { nativeCrossEntropy, withNativeLosses } from '../../../src/capture/overrides/losses.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { STEP_OPS } from '../../../src/backends/tensorflow/step_kernels.js';
import { Random } from '../../helpers/random.js';
import { opsRun } from './ops_run.js';
import { describeSteps, modelOf, trainTwins } from '../training.js';
import { expectEqual } from '../twins.js';

type Loss = (labels: tf.Tensor, predictions: tf.Tensor) => tf.Tensor;

/** The formulas of tfjs, of stock ops, element by element. */
const ofLogits: Loss = (z, x) => x.relu().sub(x.mul(z)).add(x.abs().neg().exp().log1p());
const ofProbabilities: Loss = (z, p) => {
  const clipped = p.clipByValue(1e-7, 1 - 1e-7);
  return ofLogits(z, clipped.div(tf.sub(1, clipped)).log());
};

const UNUSUAL = [NaN, Infinity, -Infinity, 0, -0, 1, 0.5, 1e-7, 1e-8, 1 - 1e-7, 2, -3, 88, -104, 1e-38];

/** The ops for cross-entropy that `f` runs. */
const entropyOps = (f: () => unknown): Promise<string[]> => opsRun(/CrossEntropy|^Log/, f);

/** Alike but for a few of the last bits of what they are made of, which are `scale` times as large. */
function expectAlike(
  received: ArrayLike<number>,
  expected: ArrayLike<number>,
  what: (i: number) => string,
  scale: (i: number) => number = () => 1,
): void {
  expect(received.length).toBe(expected.length);
  Array.from(expected, (value, i) => {
    const own = received[i]!;
    const isAlike = Number.isFinite(value)
      ? Math.abs(own - value) <= 1e-6 * Math.max(scale(i), Math.abs(value))
      : Object.is(own, value);
    if (!isAlike) expect(own).withContext(what(i)).toBe(value);
  });
  expect(true).toBeTrue();
}

describeSteps('Binary cross-entropy as one op', () => {
  for (const [title, stock, areLogits] of [
    ['probabilities', ofProbabilities, false],
    ['logits', ofLogits, true],
  ] as const) {
    it(`agrees with the ops of tfjs, and so does its gradient: ${title}`, () => {
      const random = new Random(3);
      for (const size of [0, 1, 7, 16, 33, 1000, 9001]) {
        tf.tidy(() => {
          const drawn = (from: number, to: number): number => {
            return random.chance(0.2) ? UNUSUAL[random.whole(0, UNUSUAL.length)]! : from + (to - from) * random.next();
          };
          const zs = Float32Array.from({ length: size }, () => (random.chance(0.7) ? random.whole(0, 2) : drawn(0, 1)));
          const given = Float32Array.from({ length: size }, () => (areLogits ? drawn(-20, 20) : drawn(0, 1)));
          const [z, x] = [tf.tensor2d(zs, [size, 1]), tf.tensor2d(given, [size, 1])];
          const upstream = tf.tensor2d(random.floats(size, -2, 2), [size, 1]);
          const own: Loss = (labels, predictions) => nativeCrossEntropy(labels, predictions, areLogits)!;
          const what = (i: number): string => `${size}: label ${zs[i]}, prediction ${given[i]}`;
          expectAlike(own(z, x).dataSync(), stock(z, x).dataSync(), what);
          const gradientOf = (loss: Loss): Float32Array =>
            tf
              .grad((each) => loss(z, each).mul(upstream).sum())(x)
              .dataSync<'float32'>();
          // The slope of the logit, by which the difference of numbers of about one is multiplied.
          const slope = (i: number): number => 1 / Math.max(1e-7, given[i]! * (1 - given[i]!));
          expectAlike(gradientOf(own), gradientOf(stock), what, areLogits ? undefined : slope);
        });
      }
    });

    it(`has the gradient of finite differences: ${title}`, () => {
      const random = new Random(9);
      for (let i = 0; i < 200; i++) {
        tf.tidy(() => {
          const z = random.next();
          const x = areLogits ? 8 * random.next() - 4 : 0.05 + 0.9 * random.next();
          // In doubles: a step of float32 would leave three digits.
          const logit = (p: number): number => (areLogits ? p : Math.log(p / (1 - p)));
          const loss = (p: number): number => {
            const l = logit(p);
            return Math.max(l, 0) - l * z + Math.log1p(Math.exp(-Math.abs(l)));
          };
          const expected = (loss(x + 1e-5) - loss(x - 1e-5)) / 2e-5;
          const limits = areLogits ? new Float32Array(0) : Float32Array.of(1e-7, 1 - 1e-7);
          const gradient = STEP_OPS.crossEntropyGradient(tf.tensor1d([z]), tf.tensor1d([x]), limits, tf.ones([1]));
          expect(Math.abs(gradient.dataSync()[0]! - expected)).toBeLessThan(1e-4 * (1 + Math.abs(expected)));
        });
      }
    });
  }

  it('has the shape of that of tfjs, which weights of samples are multiplied with', () => {
    tf.tidy(() => {
      const inputs = tf.input({ shape: [1] });
      const model = tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(inputs) as tf.SymbolicTensor });
      model.compile({ optimizer: 'sgd', loss: 'binaryCrossentropy' });
      const holder = model as unknown as { lossFunctions: Loss[] };
      for (const shape of [
        [4, 1],
        [4, 3],
        [4, 2, 1],
        [4, 2, 3],
      ]) {
        const [y, p] = [tf.zeros(shape), tf.fill(shape, 0.25)];
        const expected = holder.lossFunctions[0]!(y, p);
        const found = withNativeLosses(model, () => holder.lossFunctions[0]!(y, p));
        expect(found.shape).withContext(String(shape)).toEqual(expected.shape);
        expectAlike(found.dataSync(), expected.dataSync(), String);
      }
      model.optimizer.dispose();
      model.dispose();
    });
  });

  it('is the same for any number of threads', () => {
    const random = new Random(2);
    tf.tidy(() => {
      const [z, p] = [0, 1].map(() => tf.tensor1d(random.floats(50_000)));
      const limits = Float32Array.of(1e-7, 1 - 1e-7);
      const usual = emb.backendInfo().kernels['EmbeddingBag']!.threads;
      try {
        const found = [1, 2].map((threads) => {
          emb.setThreads(threads);
          const losses = STEP_OPS.crossEntropy(z!, p!, limits);
          return [losses.dataSync(), STEP_OPS.crossEntropyGradient(z!, p!, limits, losses).dataSync()];
        });
        expect(found[1]).toEqual(found[0]!);
      } finally {
        emb.setThreads(usual);
      }
    });
  });

  const heads = (activation: 'sigmoid' | 'linear', units: number) => (x: tf.SymbolicTensor) =>
    tf.layers.dense({ units, activation }).apply(x) as tf.SymbolicTensor;

  it('stands for the loss of models that were compiled with one of the two, captured or not', async () => {
    for (const [loss, activation] of [
      ['binaryCrossentropy', 'sigmoid'],
      [['binaryCrossentropy'], 'sigmoid'],
      [tf.losses.sigmoidCrossEntropy, 'linear'],
    ] as const) {
      for (const units of [1, 3]) {
        for (const isCaptured of [true, false]) {
          const model = modelOf(heads(activation, units));
          emb.setCapture(isCaptured, model);
          const optimizer = emb.train.sgd({ learningRate: 0.1 });
          model.compile({ optimizer, loss: loss as never });
          const [x, y] = [tf.ones([4, 2], 'int32'), tf.ones([4, units])];
          const ops = await entropyOps(() => model.trainOnBatch(x, y));
          expect(ops).toEqual(['EmbeddingCrossEntropy', 'EmbeddingCrossEntropyGrad']);
          expect(await entropyOps(() => tf.dispose(model.evaluate(x, y)))).toEqual(['EmbeddingCrossEntropy']);
          optimizer.dispose();
          model.dispose();
          tf.dispose([x, y]);
        }
      }
    }
  });

  it('gives the losses of tfjs for several outputs and weights of samples', async () => {
    const random = new Random(4);
    for (const units of [1, 3]) {
      const model = modelOf(heads('sigmoid', units));
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'binaryCrossentropy' });
      const x = tf.tensor2d([3, 1, 4, 1, 5, 9, 2, 6], [4, 2], 'int32');
      const y = tf.tensor2d(random.floats(4 * units), [4, units]);
      const expected = tf.tidy(
        () =>
          tf.metrics
            .binaryCrossentropy(y, model.predict(x) as tf.Tensor)
            .mean()
            .dataSync()[0]!,
      );
      const found = model.evaluate(x, y) as tf.Scalar;
      expect(Math.abs(found.dataSync()[0]! - expected)).toBeLessThan(1e-6);
      expect(Math.abs(((await model.trainOnBatch(x, y)) as number) - expected)).toBeLessThan(1e-6);
      optimizer.dispose();
      model.dispose();
      tf.dispose([x, y, found]);
    }
  });

  it('trains from logits as op by op', async () => {
    const found = await trainTwins(() => modelOf(heads('linear', 1)), { loss: tf.losses.sigmoidCrossEntropy as never });
    expect(found.captured.info).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
    expectEqual(found);
  });

  it('is not taken for other losses, types and shapes', async () => {
    const model = modelOf();
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const [x, y] = [tf.ones([4, 2], 'int32'), tf.ones([4, 1])];
    expect(await entropyOps(() => model.trainOnBatch(x, y))).toEqual([]);
    optimizer.dispose();
    model.dispose();
    tf.dispose([x, y]);
    tf.tidy(() => {
      expect(nativeCrossEntropy(tf.ones([2], 'int32'), tf.ones([2]), false)).toBeNull();
      expect(nativeCrossEntropy(tf.ones([2]), tf.ones([2, 1]), false)).toBeNull();
      const limits = Float32Array.of(0, 1);
      const two = tf.ones([2]);
      expect(() => STEP_OPS.crossEntropy(tf.ones([3]), two, limits)).toThrowError(emb.ValueError, /labels.*2.*3/);
      expect(() => STEP_OPS.crossEntropy(two, two, Float32Array.of(1))).toThrowError(emb.ValueError, /limits/);
      expect(() => STEP_OPS.crossEntropyGradient(two, two, limits, tf.ones([1]))).toThrowError(
        emb.ValueError,
        /upstream.*2.*1/,
      );
    });
  });
});
