/** Kernels run by the engine of tfjs, which looks them up, records them on a tape and shows them to a profile. */
import * as tf from '@tensorflow/tfjs';

/** Runs a kernel on the backend in use, without the inputs that are not there. */
export function runOnEngine<T>(
  kernelName: string,
  inputs: Readonly<Record<string, tf.Tensor | null | undefined>>,
  attrs: object,
): T {
  const given: tf.NamedTensorMap = {};
  for (const name in inputs) {
    const tensor = inputs[name];
    if (tensor !== null && tensor !== undefined) given[name] = tensor;
  }
  return tf.engine().runKernel(kernelName, given, attrs as never) as unknown as T;
}
