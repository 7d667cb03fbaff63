/** Penalties of tables in the loss of a step: over the rows that it touched, whatever made the regularizer. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';

type Regularizer = ReturnType<typeof tf.regularizers.l2>;

const ROWS = [
  [1, -2],
  [3, -4],
  [5, -6],
  [7, 8],
];

/** tfjs's fields, with another penalty. */
class Largest extends (tf.regularizers.l2().constructor as new (config: object) => Regularizer) {
  static readonly className = 'LargestValue';
  constructor() {
    super({ l2: 1 });
  }
  getConfig(): tf.serialization.ConfigDict {
    return {};
  }
  override apply(x: tf.Tensor): tf.Scalar {
    return tf.tidy(() =>
      x
        .abs()
        .max()
        .mul(10 * x.shape[0]!),
    ) as tf.Scalar;
  }
}

/** How far a step of size 1 moves the table, for a loss that is the penalty alone. */
function moved(regularizer: Regularizer, ids: readonly number[]): number[][] {
  const layer = emb.layers.embedding({
    inputDim: ROWS.length,
    outputDim: 2,
    combiner: 'sum',
    outOfRange: 'zero',
    embeddingsRegularizer: regularizer,
    embeddingsInitializer: tf.initializers.zeros(),
  } as Parameters<typeof emb.layers.embedding>[0]);
  const optimizer = emb.train.sgd({ learningRate: 1 });
  return tf.tidy(() => {
    const input = tf.tensor2d([...ids], [1, ids.length], 'int32');
    tf.dispose(layer.apply(input));
    layer.setWeights([tf.tensor2d(ROWS)]);
    optimizer.minimize(() => {
      const pooled = (layer.apply(input) as tf.Tensor).sum().mul(0);
      return layer.calculateLosses().reduce<tf.Tensor>((sum, loss) => sum.add(loss), pooled) as tf.Scalar;
    });
    const after = layer.getWeights()[0]!.arraySync() as number[][];
    const by = after.map((row, i) => row.map((value, j) => ROWS[i]![j]! - value));
    layer.dispose();
    optimizer.dispose();
    return by;
  });
}

describeForBackends('penalties', () => {
  let tensors: number;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  it('count each touched row once, and ids outside the table not at all', () => {
    const l2 = moved(tf.regularizers.l2({ l2: 0.5 }), [2, -1, 0, 2, 9, 2]);
    expect(l2).toEqual([ROWS[0], [0, 0], ROWS[2], [0, 0]] as number[][]);
  });

  it('are those of a class of the caller that extends the one of tfjs', () => {
    expect(moved(new Largest(), [1, -1, 0, 9])).toEqual([
      [0, 0],
      [0, -20],
      [0, 0],
      [0, 0],
    ]);
  });

  it('are none where no id names a row', () => {
    for (const regularizer of [tf.regularizers.l2({ l2: 0.5 }), new Largest()]) {
      expect(moved(regularizer, [-1, 9])).toEqual(ROWS.map(() => [0, 0]));
    }
  });
});
