/** The norm over the gradients of all variables together. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { readGradients, type Gradient, type Gradients } from './gradients.js';
import { sumOfSquares } from './indexed_slices.js';

/** The root of the sum of the squares of all gradients. Call inside a tidy. */
function globalNorm(gradients: readonly tf.Tensor[]): tf.Scalar {
  const squares = gradients.map(sumOfSquares);
  return squares.length === 0 ? tf.scalar(0) : tf.addN(squares).sqrt();
}

/** What scales gradients so that their common norm is at most `most`, and the norm before. Call inside a tidy. */
export function scaleOf(gradients: readonly tf.Tensor[], most: number): { scale: tf.Scalar; norm: tf.Scalar } {
  const norm = globalNorm(gradients);
  // What is not finite spoils everything, so that it is seen: infinity times 0 is no number.
  return { scale: tf.div<tf.Scalar>(most, norm.maximum(most)).add<tf.Scalar>(norm.mul(0)), norm };
}

/** Scaled copies of gradients, whose common norm is at most `most`, and the norm before. Call inside a tidy. */
function clipTogether<G extends Gradient>(gradients: readonly G[], most: number): { clipped: G[]; norm: tf.Scalar } {
  const tensors = gradients.map((gradient) => (gradient instanceof tf.Tensor ? gradient : gradient.values));
  const { scale, norm } = scaleOf(tensors, most);
  return { clipped: gradients.map((gradient) => gradient.mul(scale) as G), norm };
}

function checkNorm(norm: unknown): number {
  const expected = 'a finite number > 0';
  if (typeof norm !== 'number') throw new ArgumentTypeError('norm', expected, norm);
  if (!(Math.fround(norm) > 0 && Math.fround(norm) < Infinity)) throw new ValueError('norm', expected, norm);
  return norm;
}

/**
 * Returns gradients scaled so that the L2 norm over all of them together is at most `norm`, and the norm that they had.
 *
 * `grads`: tensors and `IndexedSlices` by variable name, or a list of `{name, tensor}`; the result has the same form
 * and holds new tensors, all times `norm / max(norm, global norm)`; null stays null. The `norm` of the result is a
 * scalar. The gradients given stay the caller's to dispose, as the result is: `tf.dispose([grads, clipped])`. Where the
 * global norm is not finite, all gradients become NaN, so that it is seen.
 * Source: tf.clip_by_global_norm (TensorFlow 2.21).
 *
 * @throws TypeError for wrong types; ValueError for a norm that is not above 0; RuntimeError for disposed slices.
 *
 * @example
 * const { value, grads } = optimizer.computeGradients(loss);
 * const clipped = emb.train.clipByGlobalNorm(grads, 1);
 * optimizer.applyGradients(clipped.grads);
 * tf.dispose([value, grads, clipped]);
 */
export function clipByGlobalNorm<G extends Gradients>(grads: G, norm: number): { grads: G; norm: tf.Scalar } {
  const most = checkNorm(norm);
  const found = readGradients(grads);
  return tf.tidy(() => {
    const { clipped, norm: before } = clipTogether(
      found.map(({ gradient }) => gradient),
      most,
    );
    const byName = new Map(found.map(({ name }, i) => [name, clipped[i]!]));
    const again = Array.isArray(grads)
      ? grads.map(({ name, ...rest }) => ({ ...rest, name, tensor: byName.get(name) ?? null }))
      : Object.fromEntries(Object.keys(grads).map((name) => [name, byName.get(name) ?? null]));
    return { grads: again, norm: before } as never;
  });
}
