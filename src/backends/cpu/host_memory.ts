/** Where tables lie on the host, and how tensors of the backend in use are read and made. */
import type * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../bag_tensors.js';
import type { HostBags } from '../kernel_set.js';
import type { OwnedTables } from './owned_tables.js';

export interface HostMemory {
  /** Where tables and slots lie, among them this one or, where it is about to be made, one to come. */
  owned(table?: tf.TensorInfo): OwnedTables;
  /** The values of a float32 tensor, an argument of this name, for reading. */
  floats(tensor: tf.TensorInfo, argument: string): Float32Array;
  /** The values of an int32 tensor, an argument of this name, for reading; none is `most` or more. */
  ints(tensor: tf.TensorInfo, argument: string, most: number): Int32Array;
  /** A new tensor of the backend in use. */
  make(shape: number[], dtype: 'float32' | 'int32', values: Float32Array | Int32Array): tf.TensorInfo;
}

/** Bags as kernels are given them. */
export type BagInputs = { readonly [name in keyof BagTensors]?: tf.TensorInfo | null | undefined };

/** The ids of a batch for a table of so many rows. */
export function bagsIn(memory: HostMemory, { values, rowSplits, weights = null }: BagInputs, rows: number): HostBags {
  return {
    values: memory.ints(values!, 'values', rows),
    rowSplits: memory.ints(rowSplits!, 'rowSplits', values!.shape[0]! + 1),
    weights: weights === null ? null : memory.floats(weights, 'weights'),
  };
}
