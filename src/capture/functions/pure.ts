/** What users promise of their functions: that a step depends on tensors alone, and where it takes a number that changes. */
import * as tf from '@tensorflow/tfjs';
import { live as liveValues } from '../../backends/recordings.js';
import { ArgumentTypeError } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';

const marked = (): WeakSet<object> => perProcess('pure functions', () => new WeakSet());

/** Whether a user has marked this function as pure. */
export function isPure(value: unknown): boolean {
  return typeof value === 'function' && marked().has(value);
}

/**
 * Returns `f`, marked as a loss or metric that depends on its tensors alone, so that steps of a model compiled with it
 * are captured: they run as one call on the `tensorflow` backend, as with losses of tfjs.
 *
 * The mark is a promise. From time to time a step runs op by op and is compared with its recording: ten of the first 50,
 * later about one in 1,000, and one at the end of each `fit`. Where the function read a JavaScript number that has changed, steps
 * run op by op from then on; a warning and `emb.stepInfo(model).reason` say so, and since which step the numbers may
 * have been others. Numbers that change go in by `emb.live`.
 *
 * @param f - A loss or metric, `(yTrue, yPred) => tensor`.
 * @returns The same function.
 * @throws TypeError for anything but a function.
 *
 * @example
 * const loss = emb.pure((yTrue, yPred) => tf.losses.huberLoss(yTrue, yPred).mul(2));
 * model.compile({ optimizer: emb.train.adam(), loss });
 */
export function pure<F extends (yTrue: tf.Tensor, yPred: tf.Tensor) => tf.Tensor>(f: F): F {
  if (typeof f !== 'function') throw new ArgumentTypeError('f', 'a function', f);
  marked().add(f);
  return f;
}

function numberOf(give: () => number): Float32Array {
  const value: unknown = give();
  if (typeof value !== 'number') throw new ArgumentTypeError('give', 'a function that returns a number', value);
  return Float32Array.of(value);
}

/**
 * Returns a scalar tensor (float32) of the number that `give` returns now. In a captured step `give` is called anew for
 * each step, in the order of the code: this is the way in for numbers of JavaScript that change, such as a factor that
 * grows from step to step. Without captured steps it is `tf.scalar(give())`.
 *
 * @param give - Returns the number; NaN and infinities are numbers. The same function in each step, made outside of it:
 * one that each step makes anew may read what only that step has, and the step runs op by op.
 * @returns A scalar, which belongs to the scope of the caller.
 * @throws TypeError for what is no function, or returns no number.
 *
 * @example
 * let weight = 0.1;
 * const currentWeight = () => weight;
 * const step = emb.capture((x, y) => optimizer.minimize(() => lossOf(x, y).mul(emb.live(currentWeight)), true));
 * weight = 0.2; // the next step takes it
 */
export function live(give: () => number): tf.Scalar {
  if (typeof give !== 'function') throw new ArgumentTypeError('give', 'a function that returns a number', give);
  return tf.tensor(
    liveValues(() => numberOf(give), give),
    [],
    'float32',
  ) as tf.Scalar;
}
