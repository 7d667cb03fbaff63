/** Tensors cut along an axis: tfjs has no gradient of the ops that do it where they make one piece. */
import * as tf from '@tensorflow/tfjs';

/** Slices of one place each, without the axis. */
export function unstacked(tensor: tf.Tensor, axis = 0): tf.Tensor[] {
  return tensor.shape[axis] === 1 ? [tensor.squeeze([axis])] : tf.unstack(tensor, axis);
}

/** Pieces of these lengths, or so many of one length. */
export function splitInto(tensor: tf.Tensor, parts: number | number[], axis = 0): tf.Tensor[] {
  const isWhole = parts === 1 || (Array.isArray(parts) && parts.length === 1 && parts[0] === tensor.shape[axis]);
  return isWhole ? [tensor.clone()] : tf.split(tensor, parts, axis);
}
