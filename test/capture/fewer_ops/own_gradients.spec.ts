/** Gradients of a recorded step in one op of ours each: the same numbers, and only where they are those gradients. */
import { nativeCategoricalLoss } from '../../../src/capture/overrides/losses.js';
import { nativeSoftmaxGradient } from '../../../src/capture/overrides/softmax_gradient.js';
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { namesOf, opsOf } from './ops_left.js';
import { takeAllForExact } from './all_exact.js';
import { describeSteps, expectCaptured, modelOf, trainTwins } from '../training.js';

const SHAPES: readonly number[][] = [[1], [3, 1], [7, 5], [2, 3, 4], [300, 70], [600, 512]];

/** The gradient of a function of numbers around 0, of which the step is given numbers from 0 to 1. */
const gradientAround =
  (f: (x: tf.Tensor) => tf.Tensor) =>
  ([x, dy]: tf.Tensor[]): tf.Tensor[] => [tf.grad(f)(x!.sub(0.5), dy!.sub(0.5))];

describeSteps('withOwnGradients', () => {
  takeAllForExact();
  it('has the gradient of relu in one op', () => {
    for (const shape of SHAPES) {
      const ops = namesOf(opsOf([shape, shape], gradientAround(tf.relu)));
      expect(ops).withContext(shape.join('x')).toContain('EmbeddingReluGrad');
      expect(ops).not.toContain('Select');
      expect(ops).not.toContain('IsNan');
    }
  });

  it('has the numbers of tfjs, those that are none or infinite too', () => {
    const odd = [NaN, Infinity, -Infinity, 0, -0, 1e-45, -1e-45, 1, -1, 3e38];
    tf.tidy(() => {
      const [x, dy] = [odd.flatMap((each) => odd.map(() => each)), odd.flatMap(() => odd)].map((all) =>
        tf.tensor1d(all),
      );
      const own = asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingReluGrad', [], [dy!, x!]);
      expect(own.dataSync()).toEqual(dy!.mul(tf.step(x!)).dataSync());
    });
  });

  it('leaves steps of other slopes, and factors of another shape', () => {
    const leaves = (
      step: (inputs: tf.Tensor[]) => tf.Tensor[],
      shapes = [
        [4, 3],
        [4, 3],
      ],
    ): void => {
      expect(namesOf(opsOf(shapes, step))).not.toContain('EmbeddingReluGrad');
    };
    leaves(([x, dy]) => [dy!.mul(tf.step(x!.sub(0.5), 0.25))]);
    leaves(([x, dy]) => [dy!.mul(tf.step(x!.sub(0.5)))], [[4, 3], [3]]);
    leaves(([x, dy]) => [dy!.mul(tf.where(x!.greater(0.5), tf.onesLike(x!), tf.zerosLike(x!)))]);
    leaves(([x, dy]) => [tf.where(tf.isNaN(x!), dy!, tf.step(dy!)).mul(x!)]);
  });

  /** By the probabilities; TensorFlow has another softmax in graphs, so that they are given. */
  const ofLoss = (isSparse: boolean, labels: tf.Tensor, y: tf.Tensor, dy: tf.Tensor): tf.Tensor => {
    return tf.grad((p) => nativeCategoricalLoss(labels, p, isSparse)!)(y, dy);
  };

  it('has the gradient of cross-entropy through softmax in one op', () => {
    for (const classes of [16, 700]) {
      for (const isSparse of [true, false]) {
        const ops = opsOf([[9, classes], isSparse ? [9] : [9, classes], [9]], ([y, given, dy]) => {
          const labels = isSparse ? given!.mul(classes).floor() : given!.greater(0.9).toFloat();
          return [nativeSoftmaxGradient(ofLoss(isSparse, labels, y!, dy!), y!)!];
        });
        const names = namesOf(ops);
        expect(names).toContain('EmbeddingCategoricalLossSoftmaxGrad');
        expect(names).not.toContain('EmbeddingSoftmaxGrad');
        expect(names).not.toContain('EmbeddingCategoricalLossGrad');
      }
    }
  });

  it('keeps the gradient by probabilities where somebody takes it', () => {
    const ops = opsOf([[5, 20], [5], [5]], ([y, given, dy]) => {
      const inner = ofLoss(true, given!.mul(20).floor(), y!, dy!);
      return [inner, nativeSoftmaxGradient(inner, y!)!];
    });
    expect(namesOf(ops)).toContain('EmbeddingSoftmaxGrad');
  });

  it('trains models with relu as op by op', async () => {
    const head = (x: tf.SymbolicTensor): tf.SymbolicTensor => {
      const hidden = tf.layers.dense({ units: 6, activation: 'relu' }).apply(x);
      return tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(hidden) as tf.SymbolicTensor;
    };
    await expectCaptured(trainTwins(() => modelOf(head)));
  });

  it('refuses numbers that do not fit', () => {
    tf.tidy(() => {
      const run = (): unknown =>
        asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingReluGrad', [], [tf.ones([3]), tf.ones([4])]);
      expect(run).toThrowError(/upstream.*4 numbers.*received 3/);
    });
  });
});
