/** Reductions of graphs, as TensorFlow defines them for tensors without elements, no axes, and means of whole numbers. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
import { readInt32, readTensor } from '../../../ids/values.js';
import { INT32_MAX, INT32_MIN } from '../../../base/types.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { sizeOf } from '../host_array.js';

type Reduce = (x: tf.Tensor, axes: number[], keepDims: boolean) => tf.Tensor;

/** What stock tfjs does with elements, and what there is without: for float32, for int32. */
const REDUCTIONS: Readonly<Record<string, readonly [run: Reduce, float: number, int: number]>> = {
  Sum: [tf.sum, 0, 0],
  Prod: [tf.prod, 1, 1],
  Max: [tf.max, -Infinity, INT32_MIN],
  Min: [tf.min, Infinity, INT32_MAX],
  Mean: [mean, NaN, 0],
  Any: [tf.any, 0, 0],
  All: [tf.all, 1, 1],
  EuclideanNorm: [euclideanNorm, 0, 0],
};

/** Whole numbers have a whole mean, cut towards 0. */
function mean(x: tf.Tensor, axes: number[], keepDims: boolean): tf.Tensor {
  if (x.dtype !== 'int32') return tf.mean(x, axes, keepDims);
  const sums = tf.sum(x, axes, keepDims);
  const count = x.size / sums.size;
  const values = Int32Array.from(sums.dataSync(), (sum) => Math.trunc(sum / count));
  return tf.tensor(values, sums.shape, 'int32');
}

/** Of whole numbers it is a whole number, cut. */
function euclideanNorm(x: tf.Tensor, axes: number[], keepDims: boolean): tf.Tensor {
  const norms = tf.sqrt(tf.sum(tf.square(tf.cast(x, 'float32')), axes, keepDims));
  return tf.cast(norms, x.dtype);
}

function axesOf(given: tf.Tensor, rank: number): number[] {
  const numbers = given.rank === 0 ? readTensor(given, 'reduction_indices') : readInt32(given, 'reduction_indices');
  return Array.from(numbers, (axis) => {
    if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
    throw new ValueError('reduction_indices', `axes in [${-rank}, ${rank})`, axis);
  });
}

function reduced(x: tf.Tensor, given: tf.Tensor, keepDims: boolean, name: string): tf.Tensor {
  const axes = axesOf(given, x.rank);
  if (axes.length === 0) return x.clone();
  const [run, float, int] = REDUCTIONS[name]!;
  if (x.size > 0) return tf.tidy(() => run(x, axes, keepDims));
  const shape = x.shape.flatMap((size, axis) => (axes.includes(axis) ? (keepDims ? [1] : []) : [size]));
  const values = new Array<number>(sizeOf(shape)).fill(x.dtype === 'float32' ? float : int);
  return tf.tensor(values, shape, x.dtype);
}

export const REDUCTION_OPS: readonly GraphOp[] = Object.keys(REDUCTIONS).map((name) => {
  const type = name === 'Any' || name === 'All' ? 'bool' : 'T';
  return graphOp(`${name}(input: ${type}, reduction_indices: Tidx) -> output: ${type}`, ([x, axes], node) =>
    reduced(x!, axes!, node.attrs['keep_dims'] === true, name),
  );
});
