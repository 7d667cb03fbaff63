/** Tensors of any dtype cut along their first axis: kernels of `cpu` cut no complex numbers. */
import * as tf from '@tensorflow/tfjs';
import { splitInto, unstacked } from '../../tfjs/cut_tensors.js';

function cutParts(tensor: tf.Tensor, cut: (part: tf.Tensor) => tf.Tensor[]): tf.Tensor[] {
  if (tensor.dtype !== 'complex64') return cut(tensor);
  return tf.tidy(() => {
    const imaginary = cut(tf.imag(tensor));
    return cut(tf.real(tensor)).map((real, i) => tf.complex(real, imaginary[i]!));
  });
}

/** Row i as tensor i. */
export function rowsOf(tensor: tf.Tensor): tf.Tensor[] {
  return tensor.shape[0] === 0 ? [] : cutParts(tensor, (part) => unstacked(part));
}

/** Pieces of these lengths, which add up to the first axis. */
export function piecesOf(tensor: tf.Tensor, lengths: number[]): tf.Tensor[] {
  return lengths.length === 0 ? [] : cutParts(tensor, (part) => splitInto(part, lengths));
}
