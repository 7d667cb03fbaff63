/** Ops of graphs whose kernels some backends of tfjs lack, or compute otherwise than TensorFlow. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { shapeAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { emptyValues, readValues } from '../host_array.js';
import { countOfSteps } from '../reference/ragged.js';

/** How often each number stands in a row, or the sum of its weights. */
function counted([input, size, weights]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const bins = readTensor(size!, 'size')[0]!;
  if (bins < 0) throw new ValueError('size', 'a number of at least 0', bins);
  if (weights!.size > 0 && weights!.size !== input!.size) {
    throw new ValueError('weights', `${input!.size} weights or none`, described(`${weights!.size}`));
  }
  const isBinary = node.attrs['binary_output'] === true;
  const shape = [...input!.shape.slice(0, -1), bins];
  const width = input!.shape[input!.rank - 1] ?? 1;
  const sums =
    weights!.dtype === 'int32'
      ? new Int32Array(tf.util.sizeFromShape(shape))
      : new Float32Array(tf.util.sizeFromShape(shape));
  const given = weights!.size > 0 ? weights!.dataSync() : null;
  readTensor(input!, 'input').forEach((bin, i) => {
    if (bin < 0) throw new ValueError('input', 'numbers of at least 0', bin);
    if (bin >= bins) return;
    const at = Math.floor(i / width) * bins + bin;
    sums[at] = isBinary ? 1 : sums[at]! + (given?.[i] ?? 1);
  });
  return tf.tensor(sums, shape, weights!.dtype);
}

/** Numbers from one to another in steps, which must lead there. */
function range([start, limit, delta]: tf.Tensor[]): tf.Tensor {
  const [first, last, step] = ['start', 'limit', 'delta'].map(
    (name, at) => readTensor([start!, limit!, delta!][at]!, name)[0]!,
  ) as [number, number, number];
  if (step === 0) throw new ValueError('delta', 'a step other than 0', step);
  if (step > 0 ? first > last : first < last) {
    throw new ValueError('limit', `a number at ${first} or ${step > 0 ? 'above' : 'below'}`, last);
  }
  const { dtype } = start!;
  const values = emptyValues(dtype, countOfSteps(first, last, step, dtype)) as Float32Array;
  values.forEach((_, at) => (values[at] = first + at * step));
  return tf.tensor1d(values, dtype as 'float32');
}

/** Places of what is neither 0 nor false. */
function places([x]: tf.Tensor[]): tf.Tensor {
  const { shape, rank, dtype } = x!;
  if (dtype === 'string') throw new ArgumentTypeError('input', 'numbers or truth values', x!);
  const found: number[] = [];
  (readValues(tf.backend(), x!, 'input') as Float32Array).forEach((value, at) => {
    if (value !== 0) found.push(at);
  });
  const strides = tf.util.computeStrides(shape);
  const coordinates = found.flatMap((at) =>
    shape.map((size, axis) => Math.floor(at / (axis < rank - 1 ? strides[axis]! : 1)) % size),
  );
  return tf.tensor2d(coordinates, [found.length, rank], 'int32');
}

function ensured([x]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const shape = shapeAttribute(node, 'shape');
  const fits = shape?.length === x!.rank && shape.every((size, axis) => size < 0 || size === x!.shape[axis]);
  if (shape !== undefined && !fits) throw new ValueError('input', `the shape [${shape.join(', ')}]`, x!);
  return x!.clone();
}

/** The largest numbers of each row, the first of equal ones first: the kernel of `cpu` loses some beside infinities. */
function largest([input, k]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const { rank, shape, dtype } = input!;
  if (rank === 0) throw new ValueError('input', 'at least a vector', input!);
  const [count, width] = [readTensor(k!, 'k')[0]!, shape[rank - 1]!];
  if (!(count >= 0 && count <= width)) throw new ValueError('k', `a number in [0, ${width}]`, count);
  if (tf.getBackend() !== 'cpu' || input!.size === 0 || count === 0) {
    if (input!.size > 0 && count > 0) {
      const { values, indices } = tf.topk(input!, count, node.attrs['sorted'] !== false);
      return [values, indices];
    }
    const empty = [...shape.slice(0, -1), count];
    return [tf.zeros(empty, dtype), tf.zeros(empty, 'int32')];
  }
  const given = readTensor(input!, 'input');
  const rows = given.length / width;
  const indices = new Int32Array(rows * count);
  for (let row = 0; row < rows; row++) {
    const best: number[] = [];
    for (let at = row * width; at < (row + 1) * width; at++) {
      if (best.length === count && !(given[at]! > given[best[count - 1]!]!)) continue;
      // Behind all that are as large.
      let [low, high] = [0, best.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (given[best[middle]!]! >= given[at]!) low = middle + 1;
        else high = middle;
      }
      best.splice(low, 0, at);
      if (best.length > count) best.pop();
    }
    best.forEach((at, i) => (indices[row * count + i] = at - row * width));
  }
  const values = Array.from(indices, (index, i) => given[Math.floor(i / count) * width + index]!);
  const result = [...shape.slice(0, -1), count];
  return [tf.tensor(values, result, dtype), tf.tensor(indices, result, 'int32')];
}

/** Boxes that do not cover one another, their scores, and how many there are, which tfjs-converter leaves out. */
function apart([boxes, scores, ...numbers]: tf.Tensor[], { attrs }: tf.GraphNode): tf.Tensor[] {
  const names = ['max_output_size', 'iou_threshold', 'score_threshold', 'soft_nms_sigma'];
  const [most, overlap, least, sigma] = names.map((name, i) => readTensor(numbers[i]!, name)[0]!) as [
    number,
    number,
    number,
    number,
  ];
  const { nonMaxSuppressionV5Impl } = tf.kernel_impls;
  // Where scores are lowered, no box is left out because of how much it covers.
  const given = [readTensor(boxes!, 'boxes'), readTensor(scores!, 'scores')] as unknown as [
    tf.TypedArray,
    tf.TypedArray,
  ];
  const found = nonMaxSuppressionV5Impl(...given, most, sigma > 0 ? Infinity : overlap, least, sigma);
  const count = found.selectedIndices.length;
  const size = attrs['pad_to_max_output_size'] === true ? Math.max(most, count) : count;
  const [indices, kept] = [new Int32Array(size), new Float32Array(size)];
  indices.set(found.selectedIndices);
  kept.set(found.selectedScores as unknown as number[]);
  return [tf.tensor1d(indices, 'int32'), tf.tensor1d(kept), tf.scalar(count, 'int32')];
}

/** Images of whole numbers stay such: the kernel of `wasm` gives floats. */
function nearest([images, size]: tf.Tensor[], { attrs }: tf.GraphNode): tf.Tensor {
  const [height, width] = Array.from(readTensor(size!, 'size')) as [number, number];
  const [align, half] = [attrs['align_corners'] === true, attrs['half_pixel_centers'] === true];
  return tf.tidy(() =>
    tf.cast(tf.image.resizeNearestNeighbor(images as tf.Tensor4D, [height, width], align, half), images!.dtype),
  );
}

/** The number of boundaries that are not above a value; all of them for what is no number. */
function bucketized([x]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const boundaries = Float32Array.from((node.attrs['boundaries'] as number[] | undefined) ?? []);
  const stray = boundaries.find((each, at) => at > 0 && each < boundaries[at - 1]!);
  if (stray !== undefined) throw new ValueError('boundaries', 'numbers in order', Array.from(boundaries));
  const places = Int32Array.from(readTensor(x!, 'input'), (value) => {
    // TensorFlow compares whole numbers as floats of 32 bits.
    const found = boundaries.findIndex((each) => Math.fround(value) < each);
    return found < 0 ? boundaries.length : found;
  });
  return tf.tensor(places, x!.shape, 'int32');
}

export const OTHER_MENDED_OPS: readonly GraphOp[] = [
  graphOp('TopKV2(input: T, k: Tk) -> values: T, indices: index_type', largest),
  graphOp(
    'NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, ' +
      'soft_nms_sigma: T) -> selected_indices: int32, selected_scores: T, valid_outputs: int32',
    apart,
  ),
  graphOp('ResizeNearestNeighbor(images: T, size: int32) -> resized_images: T', nearest),
  graphOp('EnsureShape(input: T) -> output: T', ensured),
  graphOp('Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx', range),
  graphOp('ShapeN(input: T * N) -> output: out_type * N', (given) =>
    given.map(({ shape }) => tf.tensor1d(shape, 'int32')),
  ),
  graphOp('Bucketize(input: T) -> output: int32', bucketized),
  graphOp('Where(input: T) -> index: int64', places),
  graphOp('DenseBincount(input: Tidx, size: Tidx, weights: T) -> output: T', counted),
];
