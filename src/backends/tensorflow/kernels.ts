/** The kernels of this package as TensorFlow ops, for the tfjs-node backend. */
import type * as tf from '@tensorflow/tfjs';
import { type UpdateName, opNames } from '../../rules/rules.js';
import type { BagOptions } from '../kernel_set.js';
import type { RowAttributes } from '../bag_tensors.js';
import { isLive } from '../recordings.js';
import { withTensor, type NodeBackend, type OpAttribute } from './node_backend.js';
import { translated } from './op_errors.js';
import {
  bagAttributes,
  numbersOfStep,
  opOf,
  rowsAttribute,
  storageAttributes,
  weightsOrNone,
  withTable,
} from './op_inputs.js';

/** The ids of a batch as a kernel gets them. */
export interface BagInputs {
  readonly values: tf.TensorInfo;
  readonly rowSplits: tf.TensorInfo;
  readonly weights?: tf.TensorInfo | null | undefined;
}

export function embeddingBag(
  backend: NodeBackend,
  { table, values, rowSplits, weights }: BagInputs & { table: tf.TensorInfo },
  options: BagOptions & RowAttributes,
): tf.Tensor {
  const opName = opOf('EmbeddingBag', options);
  const attributes = rowsAttributes(backend, options);
  const perId = weightsOrNone(backend, weights);
  return translated(opName, () => backend.executeSingleOutput(opName, attributes, [table, values, rowSplits, perId]));
}

export function embeddingBagGrad(
  backend: NodeBackend,
  { gradient, values, rowSplits, weights, table }: BagInputs & { gradient: tf.TensorInfo; table?: tf.TensorInfo },
  options: BagOptions & { rows: number },
): tf.Tensor[] {
  const attributes = [...bagAttributes(backend, options), rowsAttribute(backend, options.rows)];
  const perId = weightsOrNone(backend, weights);
  return translated('EmbeddingBagGrad', () =>
    withTable(backend, options.maxNorm > 0 ? table : null, gradient.shape[1] ?? 0, (rows) =>
      backend.executeMultipleOutputs('EmbeddingBagGrad', attributes, [gradient, values, rowSplits, perId, rows], 2),
    ),
  );
}

export function embeddingBagWeightsGrad(
  backend: NodeBackend,
  inputs: Required<BagInputs> & { table: tf.TensorInfo; gradient: tf.TensorInfo; weights: tf.TensorInfo },
  options: BagOptions & RowAttributes,
): tf.Tensor {
  const { table, gradient, values, rowSplits, weights } = inputs;
  const opName = opOf('EmbeddingBagWeightsGrad', options);
  const all = [table, gradient, values, rowSplits, weights];
  return translated(opName, () => backend.executeSingleOutput(opName, rowsAttributes(backend, options), all));
}

/** TensorFlow has a SparseApplyAdagrad and a SparseApplyFtrl of its own, so the ops carry a prefix. */
const APPLY_OPS = opNames('EmbeddingSparseApply');
const PACKED_APPLY_OPS = opNames('EmbeddingPackedApply');

function rowsAttributes(backend: NodeBackend, options: BagOptions & RowAttributes): OpAttribute[] {
  return [...bagAttributes(backend, options), ...storageAttributes(backend, options)];
}

export interface SparseApplyInputs extends BagInputs {
  readonly table: tf.TensorInfo;
  readonly slots: readonly tf.TensorInfo[];
  readonly gradient: tf.TensorInfo;
}

/** Steps in place: the buffers of table and slots must have no other holders (see ownership.ts). */
export function sparseApplyInPlace(
  backend: NodeBackend,
  optimizer: UpdateName,
  { table, slots, gradient, values, rowSplits, weights }: SparseApplyInputs,
  options: BagOptions & RowAttributes & { hyper: ArrayLike<number> },
): void {
  const opName = (options.storage === undefined ? APPLY_OPS : PACKED_APPLY_OPS)[optimizer];
  const attributes = rowsAttributes(backend, options);
  // As it is, where it can be: a repeated step is told by the array where its numbers come from.
  const hyper = options.hyper instanceof Float32Array ? options.hyper : Float32Array.from(options.hyper);
  const perId = weightsOrNone(backend, weights);
  const step = (numbers: tf.TensorInfo): unknown =>
    backend.executeMultipleOutputs(
      opName,
      attributes,
      [table, ...slots, gradient, values, rowSplits, perId, numbers],
      0,
    );
  translated(opName, () => {
    if (isLive(hyper)) withTensor(backend, hyper, [hyper.length], step);
    else step(numbersOfStep(backend, hyper));
  });
}
