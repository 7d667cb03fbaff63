/** Activations of Keras that TensorFlow.js lacks, under names that stay as they are in saved models. */
import * as tf from '@tensorflow/tfjs';
import { withoutTape } from '../tfjs/lazy_gradient.js';

type Function = (x: tf.Tensor) => tf.Tensor;

/** One where a number fulfils it, else zero; no gradient goes through it. */
const isSo = (test: () => tf.Tensor): tf.Tensor => withoutTape(() => test().toFloat());

const beyondHalf: Function = (x) => isSo(() => tf.greater(tf.abs(x), 0.5));

/** By Keras's name: those that have no settings, or are called with the usual ones. */
const FUNCTIONS: Readonly<Record<string, Function>> = {
  exponential: (x) => tf.exp(x),
  hard_silu: (x) => x.mul(tf.relu6(x.add(3)).div(6)),
  hard_tanh: (x) => tf.clipByValue(x, -1, 1),
  celu: (x) => tf.elu(x),
  log_sigmoid: (x) => tf.neg(tf.softplus(tf.neg(x))),
  leaky_relu: (x) => tf.leakyRelu(x, 0.2),
  hard_shrink: (x) => x.mul(beyondHalf(x)),
  soft_shrink: (x) => x.sub(withoutTape(() => tf.sign(x).mul(0.5))).mul(beyondHalf(x)),
  tanh_shrink: (x) => x.sub(tf.tanh(x)),
  squareplus: (x) => x.add(tf.sqrt(x.square().add(4))).div(2),
  sparse_sigmoid: (x) => tf.clipByValue(x, -1, 1).add(1).div(2),
  sparsemax: (x) => {
    const size = x.shape.at(-1)!;
    // How often Keras adds each number, which has no gradient: it sums sums of the largest ones up, where the last would do.
    const [times, count] = withoutTape(() => {
      const { values, indices } = tf.topk(x, size);
      const counts = tf.range(1, size + 1);
      // tfjs takes axes from the last for others (4.22).
      const isIn = tf.greater(values.mul(counts), values.cumsum(x.rank - 1).sub(1));
      const number = isIn.toFloat().sum(-1, true);
      // The place of each number among the sorted ones.
      const places = tf.topk(tf.neg(indices.toFloat()), size).indices;
      return [tf.relu(number.sub(places)), number] as const;
    });
    return tf.relu(x.sub(x.mul(times).sum(-1, true).sub(1).div(count)));
  },
  sparse_plus: (x) => {
    const within = tf.clipByValue(x, -1, 1).add(1).square().div(4);
    return within.add(tf.relu(x.sub(1)));
  },
};

/** Names here by those of Keras. */
export const KERAS_ACTIVATIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(FUNCTIONS).map((name) => [name, `keras${className(name)}`])),
  hard_swish: 'kerasHardSilu',
};

function className(name: string): string {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** The classes, to be registered. */
export const ACTIVATION_CLASSES = Object.entries(FUNCTIONS).map(([name, compute]) => {
  return class extends tf.serialization.Serializable {
    static readonly className = KERAS_ACTIVATIONS[name]!;

    apply(x: tf.Tensor): tf.Tensor {
      return tf.tidy(() => compute(x));
    }

    override getConfig(): tf.serialization.ConfigDict {
      return {};
    }
  };
});
