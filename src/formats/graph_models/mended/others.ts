/** Ops of graphs whose kernels some backends of tfjs lack, or compute otherwise than TensorFlow. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { graphOp, type GraphOp } from '../graph_op.js';

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

export const OTHER_MENDED_OPS: readonly GraphOp[] = [
  graphOp('DenseBincount(input: Tidx, size: Tidx, weights: T) -> output: T', counted),
];
