/** Tables that come to be a few rows at a time, in the memory where they stay: their values never lie anywhere twice. */
import * as tf from '@tensorflow/tfjs';
import { rowBlocks, rowsAtOnce } from '../base/row_blocks.js';
import type { Tables, TableWriter, WriteRows } from './contract.js';
import { currentBackend } from './registry.js';

/** A float32 tensor of the rows that `fill` writes; the others are zeros. */
export function writtenTable<Rank extends tf.Rank>(
  shape: tf.ShapeMap[Rank],
  fill: (write: WriteRows) => void,
  tables: Pick<Tables, 'begin'> = currentBackend().tables,
): tf.Tensor<Rank> {
  const writer = tables.begin(shape);
  try {
    fill(writer.write);
    return writer.finish() as tf.Tensor<Rank>;
  } catch (error) {
    writer.cancel();
    throw error;
  }
}

/** A new variable full of a number. */
export function filledSlot(tables: Pick<Tables, 'begin'>, shape: readonly number[], value: number): tf.Variable {
  const fill = (write: WriteRows): void => {
    if (Object.is(value, 0)) return;
    const [rows, width = 1] = shape as [number, number?];
    const block = new Float32Array(Math.min(rows, rowsAtOnce(width)) * width).fill(value);
    for (const part of rowBlocks({ rows, columns: width })) write(part.firstRow, block.subarray(0, part.rows * width));
  };
  const values = writtenTable([...shape], fill, tables);
  const variable = tf.variable(values, false);
  values.dispose();
  return variable;
}

/** Numbers of a row. */
export function widthOf(shape: readonly number[]): number {
  return shape.slice(1).reduce((product, size) => product * size, 1);
}

/** Collects the rows in an array, where no tensor can be written. */
export function collectedTable(shape: readonly number[]): TableWriter {
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  const columns = widthOf(shape);
  return {
    write: (firstRow, rows) => values.set(rows, firstRow * columns),
    finish: () => tf.tensor(values, [...shape], 'float32'),
    cancel: () => undefined,
  };
}
