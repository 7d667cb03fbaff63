/** How an id outside a table is told: whose table it is, and what helps. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

function messageOf(table: tf.Tensor2D, id: number): string {
  try {
    emb.ops.embeddingBag(table, [id], [0, 1], { combiner: 'sum' }).dispose();
    return 'no error';
  } catch (error) {
    expect(error).toBeInstanceOf(emb.ValueError);
    return (error as Error).message;
  }
}

describe('errors of kernels', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it('name the table, unless tfjs made its name up', () => {
    const named = tf.tidy(() => tf.variable(tf.zeros([3, 1]), true, 'users2')) as tf.Variable<tf.Rank.R2>;
    const unnamed = tf.tidy(() => tf.variable(tf.zeros([3, 1]))) as tf.Variable<tf.Rank.R2>;
    expect(unnamed.name).toMatch(/^\d+$/);
    expect(messageOf(named, 3)).toContain('(table users2: 3 rows)');
    expect(messageOf(unnamed, 3)).toContain('(the table has 3 rows)');
    const numbered = tf.tidy(() => tf.variable(tf.zeros([3, 1]), true, '2024 users')) as tf.Variable<tf.Rank.R2>;
    expect(messageOf(numbered, 3)).toContain('(table 2024 users: 3 rows)');
    tf.dispose([named, unnamed, numbered]);
  });

  it('advise on padding where the id is negative, and on outOfRange elsewhere', () => {
    const [table, empty] = [tf.zeros([3, 1]) as tf.Tensor2D, tf.zeros([0, 1]) as tf.Tensor2D];
    expect(messageOf(table, -1)).toContain('raggedEmbedding');
    expect(messageOf(table, 3)).toContain("outOfRange: 'zero'");
    expect(messageOf(empty, 0)).toContain("outOfRange: 'zero'");
    tf.dispose([table, empty]);
  });
});
