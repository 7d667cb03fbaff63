/** The `hard_sigmoid` of Keras 3, which rises by 1/6; that of TensorFlow.js and Keras 2 rises by 0.2. */
import * as tf from '@tensorflow/tfjs';

/** relu6(x + 3) / 6, under a name that stays as it is in saved models. */
export class KerasHardSigmoid extends tf.serialization.Serializable {
  static readonly className = 'kerasHardSigmoid';

  apply(x: tf.Tensor): tf.Tensor {
    return tf.tidy(() => tf.div(tf.relu6(tf.add(x, 3)), 6));
  }

  override getConfig(): tf.serialization.ConfigDict {
    return {};
  }
}
