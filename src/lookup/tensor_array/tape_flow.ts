/**
 * Ties what is read from an array to all that was written before it, as the flow does in TensorFlow: whoever
 * differentiates with respect to a value that was written and never read gets zeros. tfjs by itself would call such a
 * value unconnected, which `tf.grads` refuses.
 */
import * as tf from '@tensorflow/tfjs';
import { isTapeOn, withLazyGradient } from '../../tfjs/lazy_gradient.js';

export class TapeFlow {
  /** The last write on a tape; null: none. Tapes know tensors by their ids, so that its value is not needed. */
  private flow: tf.Tensor | null = null;

  /** A value enters the array. */
  wrote(value: tf.Tensor): void {
    if (!isTapeOn()) return;
    const before = this.flow;
    const { shape } = value;
    const inputs: tf.NamedTensorMap = before === null ? { value } : { value, before };
    this.flow = withLazyGradient(
      inputs,
      () => tf.scalar(0),
      (dy) => ({ value: () => tf.zeros(shape), before: () => dy as tf.Tensor }),
    );
    this.flow.dispose();
  }

  /** A value leaves the array; it is freed, what comes back takes its place. */
  read(value: tf.Tensor): tf.Tensor {
    const { flow } = this;
    if (flow === null || !isTapeOn()) return value;
    const tied = withLazyGradient(
      { value, flow },
      () => value.clone(),
      (dy) => ({ value: () => dy as tf.Tensor, flow: () => tf.scalar(0) }),
    );
    value.dispose();
    return tied;
  }
}
