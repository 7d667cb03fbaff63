/** Reductions of graphs, as TensorFlow defines them for tensors without elements, no axes, and means of whole numbers. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
import { readInt32, readTensor } from '../../../ids/values.js';
import { INT32_MAX, INT32_MIN } from '../../../base/types.js';
import { typeAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { sizeOf } from '../host_array.js';
import { axisOf } from './moves.js';

type Reduce = (x: tf.Tensor, axes: number[], keepDims: boolean) => tf.Tensor;

/** What stock tfjs does with elements, and what there is without: for float32, for int32. */
const REDUCTIONS: Readonly<Record<string, readonly [run: Reduce, float: number, int: number]>> = {
  Sum: [tf.sum, 0, 0],
  Prod: [prod, 1, 1],
  Max: [tf.max, -Infinity, INT32_MIN],
  Min: [tf.min, Infinity, INT32_MAX],
  Mean: [mean, NaN, 0],
  Any: [tf.any, 0, 0],
  All: [tf.all, 1, 1],
  EuclideanNorm: [euclideanNorm, 0, 0],
};

/** Whole numbers, reduced one by one, and how many there are of each result. */
function wholes(
  x: tf.Tensor,
  axes: number[],
  first: number,
  run: (a: number, b: number) => number,
): [number[], number] {
  const kept = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const order = [...kept, ...axes];
  const values = tf.tidy(() => tf.transpose(x, order).dataSync());
  const results = new Array<number>(sizeOf(kept.map((axis) => x.shape[axis]!))).fill(first);
  const count = values.length / results.length;
  values.forEach((value: number, at: number) => {
    const place = Math.floor(at / count);
    results[place] = run(results[place]!, value);
  });
  return [results, count];
}

/** Of products of whole numbers the lower 32 bits count. */
function prod(x: tf.Tensor, axes: number[], keepDims: boolean): tf.Tensor {
  if (x.dtype !== 'int32') return tf.prod(x, axes, keepDims);
  return tf.tensor(wholes(x, axes, 1, Math.imul)[0], shapeWithout(x, axes, keepDims), 'int32');
}

/** Whole numbers have a whole mean, cut towards 0. */
function mean(x: tf.Tensor, axes: number[], keepDims: boolean): tf.Tensor {
  if (x.dtype !== 'int32') return tf.mean(x, axes, keepDims);
  const [sums, count] = wholes(x, axes, 0, (a, b) => a + b);
  const means = sums.map((sum) => Math.trunc(sum / count));
  return tf.tensor(means, shapeWithout(x, axes, keepDims), 'int32');
}

/** Of whole numbers it is a whole number, cut. */
function euclideanNorm(x: tf.Tensor, axes: number[], keepDims: boolean): tf.Tensor {
  const norms = tf.sqrt(tf.sum(tf.square(tf.cast(x, 'float32')), axes, keepDims));
  return tf.cast(norms, x.dtype);
}

function axesOf(given: tf.Tensor, rank: number): number[] {
  const numbers = given.rank === 0 ? readTensor(given, 'reduction_indices') : readInt32(given, 'reduction_indices');
  const axes = Array.from(numbers, (axis) => {
    if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
    throw new ValueError('reduction_indices', `axes in [${-rank}, ${rank})`, axis);
  });
  if (new Set(axes).size < axes.length) throw new ValueError('reduction_indices', 'different axes', axes);
  return axes;
}

function shapeWithout({ shape }: tf.Tensor, axes: readonly number[], keepDims: boolean): number[] {
  return shape.flatMap((size, axis) => (axes.includes(axis) ? (keepDims ? [1] : []) : [size]));
}

function reduced(x: tf.Tensor, given: tf.Tensor, node: tf.GraphNode, name: string): tf.Tensor {
  const keepDims = node.attrs['keep_dims'] === true;
  const axes = axesOf(given, x.rank);
  if (axes.length === 0) return x.clone();
  const [run, float, int] = REDUCTIONS[name]!;
  if (x.size > 0) return tf.tidy(() => run(x, axes, keepDims));
  const shape = shapeWithout(x, axes, keepDims);
  if (Math.abs(int) > 1 && x.dtype === 'int32' && typeAttribute(node, 'T') !== 'DT_INT32' && sizeOf(shape) > 0) {
    throw new ValueError('input', 'elements: the largest numbers of 64 bits do not fit int32', x);
  }
  const values = new Array<number>(sizeOf(shape)).fill(x.dtype === 'float32' ? float : int);
  return tf.tensor(values, shape, x.dtype);
}

const place =
  (run: (x: tf.Tensor, axis: number) => tf.Tensor) =>
  ([x, axis]: tf.Tensor[]): tf.Tensor => {
    const along = axisOf(axis!, x!.rank);
    if (x!.shape[along] === 0) throw new ValueError('input', `elements along axis ${along}`, x!);
    return run(x!, along);
  };

export const REDUCTION_OPS: readonly GraphOp[] = [
  graphOp('ArgMax(input: T, dimension: Tidx) -> output: output_type', place(tf.argMax)),
  graphOp('ArgMin(input: T, dimension: Tidx) -> output: output_type', place(tf.argMin)),
  ...Object.keys(REDUCTIONS).map((name) => {
    const type = name === 'Any' || name === 'All' ? 'bool' : 'T';
    return graphOp(`${name}(input: ${type}, reduction_indices: Tidx) -> output: ${type}`, ([x, axes], node) =>
      reduced(x!, axes!, node, name),
    );
  }),
];
