/** Ops of graphs whose kernels some backends of tfjs lack, or compute otherwise than TensorFlow. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { readValues } from '../host_array.js';

interface Long {
  modulo(divisor: number): { toNumber(): number };
}

function hashed([input]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const buckets = Number(node.attrs['num_buckets']);
  if (!(buckets >= 1)) throw new ValueError('num_buckets', 'a number of at least 1', buckets);
  const texts = readValues(tf.backend(), input!, 'input') as Uint8Array[];
  const fingerprint = tf.util.fingerPrint64 as unknown as (text: Uint8Array) => Long;
  return tf.tensor(
    Int32Array.from(texts, (text) => fingerprint(text).modulo(buckets).toNumber()),
    input!.shape,
    'int32',
  );
}

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

/** Towards 0, as in C. */
function quotient([x, y]: tf.Tensor[]): tf.Tensor {
  return tf.tidy(() => {
    if (x!.dtype !== 'int32') return tf.div(x!, y!);
    const sign = tf.mul(tf.sign(x!), tf.sign(y!));
    return tf.cast(tf.mul(tf.cast(sign, 'int32'), tf.cast(tf.floorDiv(tf.abs(x!), tf.abs(y!)), 'int32')), 'int32');
  });
}

/** With the sign of the first number, as in C. */
function rest([x, y]: tf.Tensor[]): tf.Tensor {
  return tf.tidy(() => tf.cast(tf.mul(tf.sign(x!), tf.mod(tf.abs(x!), tf.abs(y!))), x!.dtype));
}

export const OTHER_MENDED_OPS: readonly GraphOp[] = [
  graphOp('StringToHashBucketFast(input: string) -> output: int64', hashed),
  graphOp('DenseBincount(input: Tidx, size: Tidx, weights: T) -> output: T', counted),
  graphOp('Div(x: T, y: T) -> z: T', quotient),
  graphOp('Mod(x: T, y: T) -> z: T', rest),
  graphOp('FloorDiv(x: T, y: T) -> z: T', ([x, y]) =>
    tf.tidy(() => (x!.dtype === 'float32' ? tf.floor(tf.div(x!, y!)) : tf.floorDiv(x!, y!))),
  ),
];
