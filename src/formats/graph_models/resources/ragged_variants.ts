/**
 * Ragged tensors as scalars, which graphs pass to functions, gather and stack. tfjs has no variants: a handle stands for
 * one, so that a tensor of variants is a tensor of handles.
 */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../../base/errors.js';
import { readInt32 } from '../../../ids/values.js';
import { atEndOfRun } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { forget, handlesFor, objectsOfKind } from './handles.js';

/** Row splits, outermost first, and the values. */
class RaggedVariant {
  constructor(
    readonly splits: readonly Int32Array[],
    readonly values: tf.Tensor,
  ) {}

  get rows(): number {
    return this.splits.length > 0 ? this.splits[0]!.length - 1 : this.values.shape[0]!;
  }
}

/** Throws unless splits divide what lies below them: the next splits, or the values. */
function checkSplits(splits: readonly Int32Array[], values: tf.Tensor): void {
  splits.forEach((own, axis) => {
    const next = splits[axis + 1];
    const count = next === undefined ? (values.shape[0] ?? 0) : next.length - 1;
    const argument = `rt_nested_splits[${axis}]`;
    if (own.length === 0 || own[0] !== 0) throw new ValueError(argument, 'splits that begin with 0', own);
    const fall = own.findIndex((split, i) => i > 0 && split < own[i - 1]!);
    if (fall > 0) throw new ValueError(argument, 'splits that do not fall', described(`${own[fall]} at ${fall}`));
    const last = own[own.length - 1]!;
    if (last !== count) throw new ValueError(argument, `splits that end with ${count}, what they divide`, last);
  });
}

/** The rows of the outermost axis; without splits those of the values. */
function rowsOf(splits: readonly Int32Array[], values: tf.Tensor): RaggedVariant[] {
  const [outer, ...inner] = splits;
  const count = outer === undefined ? values.shape[0]! : outer.length - 1;
  return Array.from({ length: count }, (_, row) => {
    let [from, to] = outer === undefined ? [row, row + 1] : [outer[row]!, outer[row + 1]!];
    const own = inner.map((below) => {
      const first = below[from]!;
      const cut = below.slice(from, to + 1).map((split) => split - first);
      [from, to] = [first, below[to]!];
      return cut;
    });
    const part = tf.tidy(() => {
      const rows = tf.slice(values, from, to - from);
      return outer === undefined ? tf.squeeze(rows, [0]) : rows;
    });
    return new RaggedVariant(own, tf.keep(part));
  });
}

function toVariant(inputs: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const splits = inputs.slice(0, -1).map((tensor, axis) => readInt32(tensor, `rt_nested_splits[${axis}]`).slice());
  const values = inputs[inputs.length - 1]!;
  const isBatched = node.attrs['batched_input'] === true;
  if (values.rank === 0 && (isBatched || splits.length > 0)) {
    throw new ValueError('rt_dense_values', 'at least a vector', values);
  }
  checkSplits(splits, values);
  const variants = isBatched ? rowsOf(splits, values) : [new RaggedVariant(splits, tf.keep(values.clone()))];
  atEndOfRun(node, () => {
    for (const variant of variants) {
      variant.values.dispose();
      forget(variant);
    }
  });
  return handlesFor(variants, isBatched ? [variants.length] : []);
}

/** Splits of rows of these lengths. */
function splitsOf(lengths: readonly number[]): Int32Array {
  const splits = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => (splits[row + 1] = splits[row]! + length));
  return splits;
}

/** Ragged tensors of one rank, one below the other: their splits and values. */
function joined(variants: readonly RaggedVariant[], rank: number, dtype: tf.DataType): [Int32Array[], tf.Tensor] {
  const splits = Array.from({ length: rank }, (_, axis) =>
    splitsOf(variants.flatMap(({ splits: own }) => Array.from(own[axis]!.slice(1), (end, i) => end - own[axis]![i]!))),
  );
  if (variants.length === 0) return [splits, tf.tensor([], [0], dtype)];
  const [first] = variants;
  for (const { values } of variants) {
    if (String(values.shape.slice(1)) === String(first!.values.shape.slice(1))) continue;
    throw new ValueError('encoded_ragged', `values of shape [., ${first!.values.shape.slice(1).join(', ')}]`, values);
  }
  return [splits, tf.concat(variants.map(({ values }) => values))];
}

function fromVariant([encoded]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const variants = objectsOfKind(encoded!, RaggedVariant, 'encoded_ragged');
  const { shape } = encoded!;
  const rank = Number(node.attrs['output_ragged_rank']);
  const given = Number(node.attrs['input_ragged_rank'] ?? -1);
  const inner = given < 0 ? rank - shape.length : given;
  if (inner < 0 || inner + shape.length !== rank) {
    const expected = `${shape.length} axes of the variants and those within them`;
    throw new ValueError('output_ragged_rank', expected, rank);
  }
  const dtype = node.attrs['Tvalues'] as tf.DataType;
  for (const { splits, values } of variants) {
    if (splits.length !== inner) {
      throw new ValueError('output_ragged_rank', `${shape.length + splits.length}, as the variants have`, rank);
    }
    if (dtype !== values.dtype) throw new ArgumentTypeError('Tvalues', values.dtype, dtype);
    if (values.rank === 0 && shape.length > 0) throw new ValueError('encoded_ragged', 'vectors at least', values);
  }
  if (shape.length === 0) {
    const [{ splits, values }] = variants as [RaggedVariant];
    return [...splits.map((own) => tf.tensor1d(own, 'int32')), values.clone()];
  }
  // All axes of the tensor of variants but the last have rows of one length.
  const outer = shape.slice(0, -1).map((_, axis) => {
    const rows = shape.slice(0, axis + 1).reduce((product, size) => product * size, 1);
    return splitsOf(new Array<number>(rows).fill(shape[axis + 1]!));
  });
  const [splits, values] = joined(variants, inner, dtype);
  const own = splitsOf(variants.map(({ rows }) => rows));
  return [...[...outer, own, ...splits].map((each) => tf.tensor1d(each, 'int32')), values];
}

/** The gradient of the values, from one variant for each row. */
function gradientOfValues([encoded, rowSplits, shape]: tf.Tensor[]): tf.Tensor {
  const variants = objectsOfKind(encoded!, RaggedVariant, 'encoded_ragged_grad');
  const rows = readInt32(rowSplits!, 'row_splits').length - 1;
  if (rows < 0) throw new ValueError('row_splits', 'at least one split', described('none'));
  if (variants.length !== rows) {
    throw new ValueError('encoded_ragged_grad', `${rows} variants, one for each row`, described(`${variants.length}`));
  }
  const sizes = Array.from(readInt32(shape!, 'dense_values_shape'));
  const size = variants.reduce((sum, { values }) => sum + values.size, 0);
  if (size !== sizes.reduce((product, each) => product * each, 1)) {
    const expected = `variants with as many values as shape [${sizes.join(', ')}]`;
    throw new ValueError('encoded_ragged_grad', expected, described(`${size} values`));
  }
  if (rows === 0) return tf.zeros(sizes);
  return tf.tidy(() => tf.reshape(tf.concat(variants.map(({ values }) => tf.reshape(values, [-1]))), sizes));
}

export const RAGGED_VARIANT_OPS: readonly GraphOp[] = [
  graphOp(
    'RaggedTensorToVariant(rt_nested_splits: Tsplits * RAGGED_RANK, rt_dense_values: Tvalues) -> encoded_ragged: variant',
    toVariant,
  ),
  graphOp(
    'RaggedTensorFromVariant(encoded_ragged: variant) -> ' +
      'output_nested_splits: Tsplits * output_ragged_rank, output_dense_values: Tvalues',
    fromVariant,
  ),
  graphOp(
    'RaggedTensorToVariantGradient(encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32) -> ' +
      'dense_values_grad: Tvalues',
    gradientOfValues,
  ),
];
