/** The gradients of lookups, written as products of matrices that tfjs differentiates by itself. */
import * as tf from '@tensorflow/tfjs';

/** How often each bag takes each row, divided as the combiner asks: pooled = counts x table. */
export function countsOf(ids: readonly (readonly number[])[], rows: number, combiner: 'sum' | 'mean'): tf.Tensor2D {
  const counts = ids.map((bag) => {
    const row = new Array<number>(rows).fill(0);
    for (const id of bag) row[id]! += combiner === 'mean' ? 1 / bag.length : 1;
    return row;
  });
  return tf.tensor2d(counts, [ids.length, rows]);
}

/** A pooled lookup as a product of matrices: its gradient is dense, and no code of the package runs. */
export function pooledDensely(
  table: tf.Tensor,
  ids: readonly (readonly number[])[],
  combiner: 'sum' | 'mean' = 'sum',
): tf.Tensor2D {
  return tf.matMul<tf.Tensor2D>(countsOf(ids, table.shape[0]!, combiner), table);
}

/** The rows that occur, ascending. */
export function rowsOf(...batches: readonly (readonly (readonly number[])[])[]): number[] {
  return [...new Set(batches.flat(2))].sort((a, b) => a - b);
}
