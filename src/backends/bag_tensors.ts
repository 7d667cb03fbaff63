/** Names and shapes of the tfjs kernels; every backend registers kernels of exactly this form. */
import type * as tf from '@tensorflow/tfjs';
import { opNames, SLOT_NAMES, type UpdateName, UPDATE_NAMES } from '../rules/rules.js';
import type { BagOptions, PackedForm } from './kernel_set.js';

/** What a backend offers; `Call` is how it sees the inputs, attributes and itself. */
interface KernelRuns<Call> {
  embeddingBag(call: Call): tf.TensorInfo[];
  embeddingBagGrad(call: Call): tf.TensorInfo[];
  embeddingBagWeightsGrad(call: Call): tf.TensorInfo[];
  packedBag(call: Call): tf.TensorInfo[];
  packedBagWeightsGrad(call: Call): tf.TensorInfo[];
  packedApply(call: Call): tf.TensorInfo[];
  sparseApply(optimizer: UpdateName, call: Call): tf.TensorInfo[];
}

/** tfjs takes a kernel's only output without the array around it. */
function asKernel<Call>(run: (call: Call) => tf.TensorInfo[]): tf.KernelFunc {
  return (params) => {
    const outputs = run(params as unknown as Call);
    return outputs.length === 1 ? outputs[0]! : outputs;
  };
}

/** The functions that tfjs registers, by kernel name. */
export function kernelTable<Call>(runs: KernelRuns<Call>): Readonly<Record<string, tf.KernelFunc>> {
  return {
    [EMBEDDING_BAG]: asKernel(runs.embeddingBag),
    [EMBEDDING_BAG_GRAD]: asKernel(runs.embeddingBagGrad),
    [EMBEDDING_BAG_WEIGHTS_GRAD]: asKernel(runs.embeddingBagWeightsGrad),
    [PACKED_BAG]: asKernel(runs.packedBag),
    [PACKED_BAG_WEIGHTS_GRAD]: asKernel(runs.packedBagWeightsGrad),
    [PACKED_APPLY]: asKernel(runs.packedApply),
    ...Object.fromEntries(
      UPDATE_NAMES.map((name) => [SPARSE_APPLY[name], asKernel((call: Call) => runs.sparseApply(name, call))]),
    ),
  };
}

/**
 * Kernel names. The TensorFlow ops are named alike, but for the update ops, which carry the prefix `Embedding` there:
 * TensorFlow has a SparseApplyAdagrad and a SparseApplyFtrl of its own.
 */
export const EMBEDDING_BAG = 'EmbeddingBag';
export const EMBEDDING_BAG_GRAD = 'EmbeddingBagGrad';
export const EMBEDDING_BAG_WEIGHTS_GRAD = 'EmbeddingBagWeightsGrad';
export const PACKED_BAG = 'EmbeddingPackedBag';
export const PACKED_BAG_WEIGHTS_GRAD = 'EmbeddingPackedBagWeightsGrad';
export const PACKED_APPLY = 'EmbeddingPackedApply';
export const SPARSE_APPLY = opNames('SparseApply');
export const KERNEL_NAMES: readonly string[] = [
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  PACKED_BAG,
  PACKED_BAG_WEIGHTS_GRAD,
  PACKED_APPLY,
  ...Object.values(SPARSE_APPLY),
];

/*
 * inputs and attributes of the kernels (attributes are BagOptions plus what is named):
 *   EmbeddingBag            {table [rows, dim], values [nnz] int32, rowSplits [batch + 1] int32, weights? [nnz]}
 *                           -> pooled [batch, dim]
 *   EmbeddingBagGrad        {gradient [batch, dim], values, rowSplits, weights?, table? (when maxNorm > 0)}
 *                           attrs + {rows}  -> [uniqueIds [u] int32 ascending, rowGradients [u, dim]]
 *   EmbeddingBagWeightsGrad {table, gradient, values, rowSplits, weights} -> [nnz]
 *   EmbeddingPackedBag, EmbeddingPackedBagWeightsGrad  as the two above; table [rows, words] int32, attrs + {storage, dim}
 *   SparseApply*            {table, slot0?, slot1? and so on, gradient, values, rowSplits, weights?}
 *                           attrs + {hyper: number[] in HYPER_FIELDS order} -> [] ; writes table and slots in place.
 *                           Callers go through `SparseApplyFunction` below, which makes the buffers writable first.
 *   EmbeddingPackedApply    the same on a table [rows, words] int32 of float16; attrs + {optimizer, storage, dim}
 */

/** The slots among the inputs of a kernel. */
export function slotsAmong<T>(optimizer: UpdateName, inputs: Readonly<Record<string, T | null | undefined>>): T[] {
  return SLOT_NAMES[optimizer].map((_, i) => inputs[`slot${i}`]!);
}

/** The ids of a batch as tensors. */
export interface BagTensors {
  readonly values: tf.Tensor1D;
  readonly rowSplits: tf.Tensor1D;
  readonly weights: tf.Tensor1D | null;
}

/** One exact step of packed rows: rounded stochastically, by the key in `hyper`. */
export type PackedApplyFunction = (
  optimizer: UpdateName,
  table: tf.Variable,
  form: PackedForm,
  ...step: Parameters<SparseApplyFunction> extends [unknown, unknown, ...infer Rest] ? Rest : never
) => void;

/**
 * One exact step on variables. Each backend offers one: it gives the variables buffers with no other holders
 * (copying first where there may be some), then runs the kernel, or composes stock ops and assigns.
 */
export type SparseApplyFunction = (
  optimizer: UpdateName,
  table: tf.Variable,
  slots: readonly tf.Variable[],
  gradient: tf.Tensor2D,
  bags: BagTensors,
  options: BagOptions,
  hyper: Float32Array,
) => void;
