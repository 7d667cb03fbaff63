/** What kernels are given: tables and ids as tensors. */
import type * as tf from '@tensorflow/tfjs';
import type { Codec } from '../../codecs/codec.js';

/** A table as kernels get it. */
export interface TableAt {
  /** [rows, words]. */
  readonly tensor: tf.TensorInfo;
  readonly codec: Codec;
  readonly dim: number;
}

export interface Bags {
  readonly values: tf.TensorInfo;
  readonly rowSplits: tf.TensorInfo;
  readonly weights: tf.TensorInfo | null;
}

export function sizeOf({ values, rowSplits }: Bags): { nnz: number; batch: number } {
  return { nnz: values.shape[0]!, batch: rowSplits.shape[0]! - 1 };
}

/** Numbers of a table that shaders ask for. */
export function tableInts({ tensor, dim }: TableAt, part: { firstRow: number; rows: number }): Record<string, number> {
  return { dim, words: tensor.shape[1]!, firstRow: part.firstRow, rows: part.rows };
}
