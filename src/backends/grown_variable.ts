/** Resizable variables, which tfjs has none of: rows are added at the end, and holders keep the same variable. */
import * as tf from '@tensorflow/tfjs';
import { rowBlocks } from '../base/row_blocks.js';
import type { WriteRows } from './contract.js';
import { currentBackend } from './registry.js';
import { type Grown, tableOf } from './table.js';
import { widthOf, writtenTable } from './written_table.js';

/** Some rows of a tensor of floats, row-major. */
export function readRows(tensor: tf.Tensor, firstRow: number, rows: number): Float32Array {
  const values = new Float32Array(rows * widthOf(tensor.shape));
  if (currentBackend().tables.read(tensor, firstRow, values)) return values;
  const slice = tensor.slice([firstRow], [rows]);
  try {
    return slice.dataSync<'float32'>();
  } finally {
    slice.dispose();
  }
}

/** The rows of a tensor of floats and, after them, `more` rows that `fill` writes, the first as row 0. */
export function withRows<T extends tf.Tensor>(tensor: T, more: number, fill: (write: WriteRows) => void): T {
  const [rows, ...row] = tensor.shape as [number, ...number[]];
  return writtenTable([rows + more, ...row] as never, (write) => {
    for (const block of rowBlocks({ rows, columns: widthOf(tensor.shape) })) {
      write(block.firstRow, readRows(tensor, block.firstRow, block.rows));
    }
    fill((firstRow, values) => write(rows + firstRow, values));
  }) as tf.Tensor as T;
}

/** The same with rows that are full of a number. */
export function withRowsOf<T extends tf.Tensor>(tensor: T, more: number, value: number): T {
  const columns = widthOf(tensor.shape);
  return withRows(tensor, more, (write) => {
    for (const { firstRow, rows } of rowBlocks({ rows: more, columns })) {
      write(firstRow, new Float32Array(rows * columns).fill(value));
    }
  });
}

/** Gives variables their new values, which stay the caller's: as `assign` does, which takes no other shape. */
export function grow(all: readonly Grown[]): void {
  const engine = tf.engine();
  for (const { variable, values } of all) {
    const { shape, size, strides, dataId } = values;
    tableOf(variable).hasHadRows(variable.shape[0]!);
    // tfjs counts bytes by the size that the variable has.
    engine.disposeTensor(variable);
    Object.assign(variable, { shape: [...shape], size, strides: [...strides], dataId });
    engine.incRef(variable, null as never);
  }
}
