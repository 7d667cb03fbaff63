/** Which tables an optimizer steps by rows. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

describe('lookups under an optimizer', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it('of a tensor that was computed train what it was computed from', () => {
    const optimizer = emb.train.sgd({ learningRate: 1 });
    const factor = tf.tidy(() => tf.variable(tf.ones([3, 2]))) as tf.Variable<tf.Rank.R2>;
    const loss = (): tf.Scalar =>
      tf.tidy(() => emb.ops.embeddingBag(tf.mul(factor, 2), [1, 1], [0, 2], { combiner: 'sum' }).sum());
    optimizer.minimize(loss);
    expect(Array.from(factor.dataSync())).toEqual([1, 1, -3, -3, 1, 1]);
    tf.dispose(factor);
    optimizer.dispose();
  });
});
