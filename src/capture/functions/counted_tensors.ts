/** Which tensors a call makes and keeps, and which it disposes of that were there before. */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from '../../tfjs/engine/own_functions.js';

interface Engine {
  trackTensor(tensor: tf.Tensor, backend: unknown): void;
  disposeTensor(tensor: tf.Tensor): void;
}

export interface CountedTensors {
  /** Tensors made by the call that are left. */
  readonly made: ReadonlySet<tf.Tensor>;
  /** Tensors of before that are gone. */
  readonly disposed: ReadonlySet<tf.Tensor>;
}

/** Runs `call`, which is told the tensors that it has made. A variable that was given another tensor is neither made nor disposed. */
export function countingTensors<T>(call: (made: ReadonlySet<tf.Tensor>) => T): { result: T } & CountedTensors {
  const engine = tf.engine() as unknown as Engine;
  const { trackTensor, disposeTensor } = engine;
  const [made, disposed] = [new Set<tf.Tensor>(), new Set<tf.Tensor>()];
  engine.trackTensor = asOwn((tensor, backend) => {
    trackTensor.call(engine, tensor, backend);
    if (!disposed.delete(tensor)) made.add(tensor);
  });
  engine.disposeTensor = asOwn((tensor) => {
    const before = tf.memory().numTensors;
    disposeTensor.call(engine, tensor);
    if (tf.memory().numTensors < before && !made.delete(tensor)) disposed.add(tensor);
  });
  try {
    return { result: call(made), made, disposed };
  } finally {
    Object.assign(engine, { trackTensor, disposeTensor });
  }
}
