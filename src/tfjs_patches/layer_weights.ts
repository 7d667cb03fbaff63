/** Weights of layers, which tfjs reads, writes and freezes without telling the layer. */
import type * as tf from '@tensorflow/tfjs';

/** Calls `listener` after each write of a weight: by `setWeights`, or by tfjs as it loads a model. */
export function afterWrites(weight: tf.LayerVariable, listener: () => void): void {
  const write = weight.write.bind(weight);
  weight.write = (value: tf.Tensor): tf.LayerVariable => {
    write(value);
    listener();
    return weight;
  };
}

/** Calls `listener` before a weight is read, so that it can be brought up to date when it is asked for. */
export function beforeReads(weight: tf.LayerVariable, listener: () => void): void {
  const read = weight.read.bind(weight);
  weight.read = () => {
    listener();
    return read();
  };
}

/** The same before a weight is read or written. */
export function beforeAccess(weight: tf.LayerVariable, listener: () => void): void {
  beforeReads(weight, listener);
  const write = weight.write.bind(weight);
  weight.write = (value: tf.Tensor): tf.LayerVariable => {
    listener();
    return write(value);
  };
}

/** Has the flag `trainable` decided elsewhere: models set it on all their weights when they are compiled. */
export function decideTrainable(
  weight: tf.LayerVariable,
  decide: { isTrainable(): boolean; ask(trainable: boolean): void },
): void {
  Object.defineProperty(weight, 'trainable', {
    get: () => decide.isTrainable(),
    set: (trainable: boolean) => decide.ask(trainable),
  });
}
