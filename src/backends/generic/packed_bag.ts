/** Lookups of packed rows from stock ops: the rows of a batch are gathered as words and unpacked on the host. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError } from '../../base/errors.js';
import { unpackRows } from '../packed/rows.js';
import type { PackedForm } from '../kernel_set.js';
import { embeddingBag, type EmbeddingBagInputs } from './embedding_bag.js';
import { embeddingBagWeightsGrad, type EmbeddingBagWeightsGradInputs } from './embedding_bag_weights_grad.js';
import { checkIds, type BagAttributes } from './host_ids.js';

type PackedAttributes = BagAttributes & PackedForm;

/** Stock ops cannot write rows of 16 bits. */
export function refusePackedStep(): never {
  throw new RuntimeError(
    'backend',
    "cpu, wasm or tensorflow for training a table of storage 'float16'",
    tf.getBackend(),
  );
}

/** A float32 table of the rows of the batch, and their places in it as ids; those outside the table stay outside. */
function unpacked(table: tf.Tensor2D, values: tf.Tensor1D, { storage, dim }: PackedForm) {
  const ids = values.dataSync<'int32'>();
  const rows = table.shape[0];
  const places = ids.map((id, i) => (id >= 0 && id < rows ? i : -1));
  const safe = tf.tensor1d(
    ids.map((id, i) => (places[i]! < 0 ? 0 : id)),
    'int32',
  );
  const words = rows === 0 ? new Int32Array(0) : tf.gather(table, safe).dataSync<'int32'>();
  const columns = rows === 0 ? new Float32Array(ids.length * dim) : unpackRows(words, storage, dim);
  return { table: tf.tensor2d(columns, [ids.length, dim]), values: tf.tensor1d(places, 'int32') };
}

/** Pooled rows [batch, dim]. */
export function packedBag(inputs: EmbeddingBagInputs, attributes: PackedAttributes): tf.Tensor2D {
  checkIds(inputs.values, inputs.table.shape[0], attributes);
  return tf.tidy(() => {
    const plain = unpacked(inputs.table, inputs.values, attributes);
    return embeddingBag({ ...inputs, ...plain }, { ...attributes, outOfRange: 'zero' });
  });
}

/** Gradient with respect to the per-id weights, [nnz]. */
export function packedBagWeightsGrad(inputs: EmbeddingBagWeightsGradInputs, attributes: PackedAttributes): tf.Tensor1D {
  checkIds(inputs.values, inputs.table.shape[0], attributes);
  return tf.tidy(() => {
    const plain = unpacked(inputs.table, inputs.values, attributes);
    return embeddingBagWeightsGrad({ ...inputs, ...plain }, { ...attributes, outOfRange: 'zero' });
  });
}
