/**
 * Ragged tensors as scalars, which graphs pass to functions. tfjs has no variants: a handle stands for one, so it can
 * be passed on, but not stacked, gathered or returned.
 */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../errors.js';
import { atEndOfRun } from '../tfjs_patches/graph_models/graph_run.js';
import { graphOp, type GraphOp } from './graph_op.js';
import { forget, handleFor, objectOfKind } from './handles.js';

/** Row splits, outermost first, and the values. */
class RaggedVariant {
  constructor(
    readonly splits: readonly tf.Tensor[],
    readonly values: tf.Tensor,
  ) {}
}

function toVariant(inputs: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  if (node.attrs['batched_input'] === true) {
    const received = described('batched_input, which makes a vector of variants');
    throw new RuntimeError('RaggedTensorToVariant', 'one ragged tensor: tfjs has no tensors of variants', received);
  }
  const kept = inputs.map((tensor) => tf.keep(tensor.clone()));
  const variant = new RaggedVariant(kept.slice(0, -1), kept[kept.length - 1]!);
  atEndOfRun(node, () => {
    tf.dispose(kept);
    forget(variant);
  });
  return handleFor(variant);
}

function fromVariant([encoded]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const { splits, values } = objectOfKind(encoded!, RaggedVariant, 'encoded_ragged');
  const rank = Number(node.attrs['output_ragged_rank']);
  if (rank !== splits.length) {
    throw new ValueError('output_ragged_rank', `${splits.length}, the ragged axes of the variant`, rank);
  }
  const dtype = node.attrs['Tvalues'] as tf.DataType;
  if (dtype !== values.dtype) throw new ArgumentTypeError('Tvalues', values.dtype, dtype);
  return [...splits, values].map((tensor) => tensor.clone());
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
];
