/** Losses that graphs compute in one op, with their gradients. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { broadcast, commonShape } from './moves.js';

/** Of each row the entropy of labels against the softmax of the features, and what its gradient is for the features. */
function crossEntropy(features: tf.Tensor, labels: tf.Tensor): tf.Tensor[] {
  const logs = tf.logSoftmax(features);
  // What no label has counts nothing, however unlikely it is.
  const parts = tf.where(tf.notEqual(labels, 0), tf.mul(labels, logs), tf.zerosLike(labels));
  return [tf.neg(tf.sum(parts, -1)), tf.sub(tf.exp(logs), labels)];
}

function dense([features, labels]: tf.Tensor[]): tf.Tensor[] {
  const shape = commonShape([features!.shape, labels!.shape], 'labels');
  if (shape.length !== 2) throw new ValueError('features', 'a matrix', features!);
  return tf.tidy(() => crossEntropy(broadcast(features!, shape), broadcast(labels!, shape)));
}

function sparse([features, labels]: tf.Tensor[]): tf.Tensor[] {
  if (features!.rank !== 2) throw new ValueError('features', 'a matrix', features!);
  const [rows, classes] = features!.shape as [number, number];
  if (labels!.rank !== 1 || labels!.size !== rows)
    throw new ValueError('labels', `a vector of ${rows} classes`, labels!);
  const given = readTensor(labels!, 'labels');
  const stray = Array.from(given).find((label) => label < 0 || label >= classes);
  if (stray !== undefined) throw new ValueError('labels', `classes in [0, ${classes})`, stray);
  const hot = new Float32Array(rows * classes);
  given.forEach((label, row) => (hot[row * classes + label] = 1));
  return tf.tidy(() => crossEntropy(features!, tf.tensor2d(hot, [rows, classes])));
}

export const LOSS_OPS: readonly GraphOp[] = [
  graphOp('SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T', dense),
  graphOp('SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T', sparse),
];
