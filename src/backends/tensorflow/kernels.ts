/** The kernels of this package as TensorFlow ops, for the tfjs-node backend. */
import type * as tf from '@tensorflow/tfjs';
import { type UpdateName, opNames } from '../../rules/rules.js';
import type { BagOptions, PackedForm } from '../kernel_set.js';
import { PACKED_BAG, PACKED_BAG_WEIGHTS_GRAD } from '../bag_tensors.js';
import { isLive } from '../recordings.js';
import { withTensor, type NodeBackend, type OpAttribute } from './node_backend.js';
import { translated } from './op_errors.js';
import { bagAttributes, formAttributes, numbersOfStep, rowsAttribute, weightsOrNone, withTable } from './op_inputs.js';

/** The ids of a batch as a kernel gets them. */
export interface BagInputs {
  readonly values: tf.TensorInfo;
  readonly rowSplits: tf.TensorInfo;
  readonly weights?: tf.TensorInfo | null | undefined;
}

export function embeddingBag(
  backend: NodeBackend,
  { table, values, rowSplits, weights }: BagInputs & { table: tf.TensorInfo },
  options: BagOptions,
): tf.Tensor {
  const attributes = bagAttributes(backend, options);
  const perId = weightsOrNone(backend, weights);
  return translated('EmbeddingBag', () =>
    backend.executeSingleOutput('EmbeddingBag', attributes, [table, values, rowSplits, perId]),
  );
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
  options: BagOptions,
): tf.Tensor {
  const { table, gradient, values, rowSplits, weights } = inputs;
  const attributes = bagAttributes(backend, options);
  return translated('EmbeddingBagWeightsGrad', () =>
    backend.executeSingleOutput('EmbeddingBagWeightsGrad', attributes, [table, gradient, values, rowSplits, weights]),
  );
}

/** The attributes of the ops on packed rows. */
function packedAttributes(backend: NodeBackend, options: BagOptions & PackedForm): OpAttribute[] {
  return [...bagAttributes(backend, options), ...formAttributes(backend, options)];
}

export function packedBag(
  backend: NodeBackend,
  { table, values, rowSplits, weights }: BagInputs & { table: tf.TensorInfo },
  options: BagOptions & PackedForm,
): tf.Tensor {
  const attributes = packedAttributes(backend, options);
  const perId = weightsOrNone(backend, weights);
  return translated(PACKED_BAG, () =>
    backend.executeSingleOutput(PACKED_BAG, attributes, [table, values, rowSplits, perId]),
  );
}

export function packedBagWeightsGrad(
  backend: NodeBackend,
  inputs: Required<BagInputs> & { table: tf.TensorInfo; gradient: tf.TensorInfo; weights: tf.TensorInfo },
  options: BagOptions & PackedForm,
): tf.Tensor {
  const { table, gradient, values, rowSplits, weights } = inputs;
  const attributes = packedAttributes(backend, options);
  const all = [table, gradient, values, rowSplits, weights];
  return translated(PACKED_BAG_WEIGHTS_GRAD, () =>
    backend.executeSingleOutput(PACKED_BAG_WEIGHTS_GRAD, attributes, all),
  );
}

/** The same of rows of float16. */
export function packedApplyInPlace(
  backend: NodeBackend,
  { table, slots, gradient, values, rowSplits, weights }: SparseApplyInputs,
  options: BagOptions & PackedForm & { hyper: Float32Array; optimizer: UpdateName },
): void {
  const { optimizer, hyper } = options;
  const opName = PACKED_APPLY_OPS[optimizer];
  const perId = weightsOrNone(backend, weights);
  translated(opName, () =>
    withTensor(backend, hyper, [hyper.length], (numbers) =>
      backend.executeMultipleOutputs(
        opName,
        packedAttributes(backend, options),
        [table, ...slots, gradient, values, rowSplits, perId, numbers],
        0,
      ),
    ),
  );
}

/** TensorFlow has a SparseApplyAdagrad and a SparseApplyFtrl of its own, so the ops carry a prefix. */
const APPLY_OPS = opNames('EmbeddingSparseApply');
const PACKED_APPLY_OPS = opNames('EmbeddingPackedApply');

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
  options: BagOptions & { hyper: ArrayLike<number> },
): void {
  const opName = APPLY_OPS[optimizer];
  const attributes = bagAttributes(backend, options);
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
