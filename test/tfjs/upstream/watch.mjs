/** What probes look at. */
import * as tf from '@tensorflow/tfjs';

/** @returns {Promise<{ name: string, inputShapes: number[][] }[]>} The kernels that ran. */
export async function kernelsOf(run) {
  const { kernels } = await tf.profile(run);
  return kernels;
}

/** @returns {Promise<number>} How many tensors a call leaves. */
export async function leftBy(run) {
  const before = tf.memory().numTensors;
  await run();
  return tf.memory().numTensors - before;
}

/** @returns {boolean} Whether a call throws. */
export function throwsIn(run) {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}

/** @returns {boolean} Whether a class has no method of such a name. */
export function hasNone({ prototype }, pattern) {
  return !Object.getOwnPropertyNames(prototype).some((name) => pattern.test(name));
}
