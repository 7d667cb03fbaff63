/** Gradients of gradients of lookups: right, or refused in clear words. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';

type Scalars = (x: tf.Tensor) => tf.Scalar;

/** The gradient of the squared norm of a gradient. */
function second(f: Scalars): (x: tf.Tensor) => tf.Tensor {
  return tf.grad((x: tf.Tensor) => tf.grad(f)(x).square().sum());
}

describeForBackends('dense gradients of lookups', () => {
  it('of no ids are zeros of the shape of the table', () => {
    tf.tidy(() => {
      const table = tf.tensor2d([[1, 2], [3, 4], [5, 6]]); // prettier-ignore
      const none = (w: tf.Tensor): tf.Tensor =>
        emb.ops.embeddingBag(w as tf.Tensor2D, tf.tensor1d([], 'int32'), [0, 0, 0], { combiner: 'sum' });
      const gradient = tf.grad((w: tf.Tensor) => none(w).add(1).square().sum())(table);
      expect(gradient.shape).toEqual([3, 2]);
      expect(Array.from(gradient.dataSync())).toEqual([0, 0, 0, 0, 0, 0]);
    });
  });
});

describeForBackends('gradients of gradients of lookups', () => {
  it('equal those of the same sum as a product of matrices', () => {
    tf.tidy(() => {
      const table = tf.tensor2d([[1, 2], [3, 4], [5, 6]]); // prettier-ignore
      const counts = tf.tensor2d([[1, 1, 0], [0, 2, 0]]); // prettier-ignore
      const pooled = (w: tf.Tensor): tf.Tensor =>
        emb.embeddingLookup(w, [[0, 1], [1, 1]], { combiner: 'sum' }) as tf.Tensor; // prettier-ignore
      const actual = second((w) => pooled(w).square().sum())(table);
      const expected = second((w) => counts.matMul(w as tf.Tensor2D).square().sum())(table); // prettier-ignore
      expect(Array.from(actual.dataSync())).toEqual(Array.from(expected.dataSync()));
    });
  });

  it('are refused with respect to weights and under maxNorm', () => {
    const refused = jasmine.stringMatching(/first-order gradients only/) as unknown as string;
    tf.tidy(() => {
      const table = tf.tensor2d([[1, 2], [3, 4]]); // prettier-ignore
      const weights = tf.tensor2d([[1, 2]]);
      const pooled = (w: tf.Tensor, per: tf.Tensor, maxNorm: number | null = null): tf.Scalar =>
        (emb.embeddingLookup(w, [[0, 1]], { combiner: 'mean', weights: per, maxNorm }) as tf.Tensor).square().sum();
      for (const run of [
        () => second((per) => pooled(table, per))(weights),
        () => second((w) => pooled(w, weights, 1))(table),
      ]) {
        let error: (Error & { argument?: string }) | undefined;
        try {
          run();
        } catch (thrown) {
          error = thrown as Error;
        }
        expect(error instanceof emb.RuntimeError).toBeTrue();
        expect(error?.message).toEqual(refused);
      }
    });
  });

  it('of dense variables leave the step of a table right', () => {
    const table = tf.tidy(() => tf.variable(tf.tensor2d([[1, 2], [3, 4]]))); // prettier-ignore
    const optimizer = emb.train.sgd({ learningRate: 0.01 });
    optimizer.minimize(() => {
      const pooled = emb.embeddingLookup(table, [[0, 1]], { combiner: 'sum' }) as tf.Tensor2D;
      const penalty = tf.grad((z: tf.Tensor) => pooled.mul(z).square().sum())(tf.tensor2d([[1, 1]]));
      return penalty.square().sum();
    });
    // d/de of |2 e^2|^2 is 16 e^3, with e = [4, 6]: 1024 and 3456.
    const expected = [1 - 10.24, 2 - 34.56, 3 - 10.24, 4 - 34.56];
    Array.from(table.dataSync()).forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 4));
    optimizer.dispose();
    table.dispose();
  });
});
