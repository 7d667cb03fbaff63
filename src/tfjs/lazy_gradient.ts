/** A custom gradient whose parts are computed only where they are asked for. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../base/errors.js';

type Save = (tensors: tf.Tensor[]) => void;

interface Invocation {
  inputs: tf.NamedTensorMap;
  forwardFunc: (backend: unknown, save: Save) => tf.Tensor;
  backwardsFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => Record<string, () => tf.Tensor>;
}

/**
 * Runs `forward` as one step of the tape. Of the gradients that `backward` offers by input name, tfjs computes only
 * those that lead to something being differentiated; `tf.customGrad`, which is made of the same, computes all of them
 * each time: a dense gradient of a frozen table for the sake of its weights.
 */
export function withLazyGradient(
  inputs: tf.NamedTensorMap,
  forward: (save: Save) => tf.Tensor,
  backward: Invocation['backwardsFunc'],
): tf.Tensor {
  const engine = tf.engine() as unknown as { runKernelFunc(invocation: Invocation): tf.Tensor };
  return engine.runKernelFunc({
    inputs,
    forwardFunc: (_backend, save) => forward(save),
    backwardsFunc: backward,
  });
}

/** Whether what is computed now may be differentiated. */
export function isTapeOn(): boolean {
  return (tf.engine() as unknown as { isTapeOn(): boolean }).isTapeOn();
}

/** Runs `f` as the inside of a kernel runs: nothing of it is recorded on the tape. */
export function withoutTape<T>(f: () => T): T {
  const { state } = tf.engine() as unknown as { state: { kernelDepth: number } };
  state.kernelDepth++;
  try {
    return f();
  } finally {
    state.kernelDepth--;
  }
}

/** Throws for a gradient that is itself to be differentiated. */
export function refuseSecond(what: string): never {
  throw new RuntimeError('gradient', 'first-order gradients only', described(`a request to differentiate ${what}`));
}
