/** Names and shapes of the tfjs kernels; every backend registers kernels of exactly this form. */
import type * as tf from '@tensorflow/tfjs';
import { opNames, SLOT_NAMES, type UpdateName, UPDATE_NAMES } from '../rules/rules.js';
import type { Storage } from '../codecs/codec.js';
import type { BagOptions } from './kernel_set.js';
import type { Table } from './table.js';

/** What a backend offers; `Call` is how it sees the inputs, attributes and itself. */
interface KernelRuns<Call> {
  embeddingBag(call: Call): tf.TensorInfo[];
  embeddingBagGrad(call: Call): tf.TensorInfo[];
  embeddingBagWeightsGrad(call: Call): tf.TensorInfo[];
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
export const SPARSE_APPLY = opNames('SparseApply');
export const KERNEL_NAMES: readonly string[] = [
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  ...Object.values(SPARSE_APPLY),
];

/*
 * inputs and attributes of the kernels (attributes are BagOptions plus what is named):
 *   EmbeddingBag            {table [rows, dim], values [nnz] int32, rowSplits [batch + 1] int32, weights? [nnz]}
 *                           -> pooled [batch, dim]
 *   EmbeddingBagGrad        {gradient [batch, dim], values, rowSplits, weights?, table? (when maxNorm > 0)}
 *                           attrs + {rows}  -> [uniqueIds [u] int32 ascending, rowGradients [u, dim]]
 *   EmbeddingBagWeightsGrad {table, gradient, values, rowSplits, weights} -> [nnz]
 *   SparseApply*            {table, slot0?, slot1? and so on, gradient, values, rowSplits, weights?}
 *                           attrs + {hyper: number[] in HYPER_FIELDS order} -> [] ; writes table and slots in place:
 *                           callers give them buffers with no other holders first.
 * A table that is not float32 is [rows, words] int32, and the attributes say of which `storage` and how many columns,
 * `dim`. EmbeddingBagGrad takes float32 alone; a step, what trains.
 */

/** What kernels are told of a table that is not float32. */
export interface RowAttributes {
  readonly storage?: Storage;
  readonly dim?: number;
}

const OF_FLOATS: RowAttributes = {};

/** The attributes that say what a table holds. */
export function rowAttributes({ codec, dim }: Table): RowAttributes {
  return codec.isPlain ? OF_FLOATS : { storage: codec.name, dim };
}

/** The options of a lookup as kernels take them: with what the table holds, where that is not float32. */
export function optionsFor(table: Table, options: BagOptions): BagOptions & RowAttributes {
  return table.isPlain ? options : { ...options, ...rowAttributes(table) };
}

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
