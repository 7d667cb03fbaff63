/** Tables that come to be a few rows at a time, in the memory where they stay: their values never lie anywhere twice. */
import * as tf from '@tensorflow/tfjs';
import { backendPart } from '../backends/registry.js';

/** Takes the values of whole rows, row-major, from a row on. */
export type WriteRows = (firstRow: number, values: Float32Array) => void;

/** Zeros for `writerOf` to fill, where the backend has such tensors; else null. */
export function emptyTable(shape: readonly number[]): tf.Tensor | null {
  return backendPart().newTable?.(shape) ?? null;
}

/** Writes rows where a tensor lies that nobody else sees. */
export function writerOf(table: tf.Tensor): WriteRows {
  const part = backendPart();
  return (firstRow, values) => void part.writeRows!(table, firstRow, values);
}

/** A float32 tensor of the rows that `fill` writes; the others are zeros. */
export function writtenTable<Rank extends tf.Rank>(
  shape: tf.ShapeMap[Rank],
  fill: (write: WriteRows) => void,
): tf.Tensor<Rank> {
  const table = emptyTable(shape) as tf.Tensor<Rank> | null;
  if (table === null) {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    const columns = shape.slice(1).reduce((product, size) => product * size, 1);
    fill((firstRow, rows) => values.set(rows, firstRow * columns));
    return tf.tensor(values, shape, 'float32');
  }
  try {
    fill(writerOf(table));
    return table;
  } catch (error) {
    table.dispose();
    throw error;
  }
}
