/**
 * Concatenate as Keras 3 joins masks: a step counts where one of its inputs counts. In TensorFlow.js and Keras 2 it counts
 * where all of them do.
 */
import * as tf from '@tensorflow/tfjs';
import { withoutTape } from '../../tfjs/lazy_gradient.js';

type Mask = tf.Tensor | null;

interface StockConcatenate extends tf.layers.Layer {
  readonly axis: number;
}

// tfjs does not export the class; a user may have registered another one under its name.
const Stock = tf.layers.concatenate({ name: 'stock' }).constructor as {
  new (args: object): StockConcatenate;
  readonly prototype: StockConcatenate;
};

/**
 * The layer, for models of Keras: `loadKerasModel` makes it of a Concatenate whose inputs have masks. It takes the
 * arguments of `tf.layers.concatenate`.
 * Source: keras.layers.Concatenate (Keras 3), compute_mask.
 */
export class Concatenate extends Stock {
  static readonly className: string = 'TfjsEmbeddings>Concatenate';

  /** Where any number of a step counts; inputs without a mask count whole. Null where no input has a mask. */
  override computeMask(inputs: tf.Tensor | tf.Tensor[], given?: Mask | Mask[]): tf.Tensor {
    const masks = [given ?? null].flat();
    if (!Array.isArray(inputs) || masks.every((mask) => mask === null)) return null as unknown as tf.Tensor;
    // Masks carry no gradient: on the tape, ops that have none would fail the step.
    return withoutTape(() =>
      tf.tidy(() => {
        const counting = inputs.map((input, i) => {
          const own = masks[i] ?? null;
          if (own === null) return tf.cast(tf.onesLike(input), 'bool');
          return own.rank < input.rank ? tf.broadcastTo(tf.expandDims(own, -1).toInt(), input.shape).toBool() : own;
        });
        return tf.any(tf.concat(counting, this.axis), -1);
      }),
    );
  }
}
