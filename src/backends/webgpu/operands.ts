/** What kernels are given: tables and ids as tensors. */
import type * as tf from '@tensorflow/tfjs';
import type { TableStorage } from './shader_text.js';

/** A table as kernels get it. */
export interface TableAt {
  /** [rows, dim] float32, or [rows, words] int32. */
  readonly tensor: tf.TensorInfo;
  readonly storage: TableStorage;
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
