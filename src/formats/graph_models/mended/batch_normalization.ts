/**
 * Batch normalization of graphs. tfjs-converter takes the given moments where a graph measures those of the batch, channels
 * for the last axis where they are the second one, and gives only the first output.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
import { textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';

/** What a training graph keeps: the moments so far, moved towards those of the batch. */
function kept(given: tf.Tensor, measured: tf.Tensor, factor: number): tf.Tensor {
  return factor === 1 ? measured : tf.add(tf.mul(given, 1 - factor), tf.mul(measured, factor));
}

/** The normalized tensor, the moments that are kept, and those that its gradient uses. */
function normalized([x, scale, offset, mean, variance]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const { attrs } = node;
  const epsilon = Number(attrs['epsilon'] ?? 1e-4);
  const isFirst = textAttribute(node, 'data_format').startsWith('NC');
  const axis = isFirst ? 1 : x!.rank - 1;
  const channels = x!.shape[axis]!;
  for (const [name, each] of Object.entries({ scale, offset })) {
    if (each!.rank !== 1 || each!.size !== channels)
      throw new ValueError(name, `a vector of ${channels} numbers`, each!);
  }
  const shape = x!.shape.map((size, at) => (at === axis ? size : 1));
  const wide = (each: tf.Tensor): tf.Tensor => tf.reshape(each, shape);
  const of = (m: tf.Tensor, v: tf.Tensor): tf.Tensor => {
    if (!isFirst && x!.size > 0)
      return tf.batchNorm(x!, m as tf.Tensor1D, v as tf.Tensor1D, offset as tf.Tensor1D, scale as tf.Tensor1D, epsilon);
    const factor = tf.mul(tf.rsqrt(tf.add(v, epsilon)), scale!);
    return tf.add(tf.mul(tf.sub(x!, wide(m)), wide(factor)), wide(offset!));
  };
  if (attrs['is_training'] === false)
    return [of(mean!, variance!), mean!, variance!, mean!, variance!].map((each) => each.clone());
  const axes = shape.flatMap((_, at) => (at === axis ? [] : [at]));
  const count = x!.size / channels;
  const measured = tf.moments(x!, axes);
  const unbiased = tf.mul(measured.variance, count / Math.max(1, count - 1));
  const factor = Number(attrs['exponential_avg_factor'] ?? 1);
  return [
    of(measured.mean, measured.variance),
    kept(mean!, measured.mean, factor),
    kept(variance!, unbiased, factor),
    measured.mean.clone(),
    measured.variance.clone(),
  ];
}

const op = (version: string, last: string): GraphOp =>
  graphOp(
    `FusedBatchNorm${version}(x: T, scale: U, offset: U, mean: U, variance: U) -> y: T, batch_mean: U, batch_variance: U, ` +
      `reserve_space_1: U, reserve_space_2: U${last}`,
    (inputs, node) => tf.tidy(() => [...normalized(inputs, node), ...(last === '' ? [] : [tf.scalar(0)])]),
  );

export const BATCH_NORMALIZATION_OPS: readonly GraphOp[] = [op('', ''), op('V2', ''), op('V3', ', reserve_space_3: U')];
