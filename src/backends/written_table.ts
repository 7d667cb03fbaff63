/**
 * Tables that come to be a few rows at a time, in the memory where they stay, and variables that get more rows at their
 * end, which tfjs has none of: values never lie anywhere twice.
 */
import * as tf from '@tensorflow/tfjs';
import { rowBlocks, rowsAtOnce } from '../base/row_blocks.js';
import type { Tables, TableWriter, WriteRows } from './contract.js';
import { tablesInUse } from './registry.js';
import { type Grown, tableOf } from './table.js';

/** A float32 tensor of the rows that `fill` writes; the others are zeros. */
export function writtenTable<Rank extends tf.Rank>(
  shape: tf.ShapeMap[Rank],
  fill: (write: WriteRows) => void,
  tables: Pick<Tables, 'begin'> = tablesInUse(),
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

/** Some rows of a tensor of floats, row-major. */
export function readRows(tensor: tf.Tensor, firstRow: number, rows: number): Float32Array {
  const values = new Float32Array(rows * widthOf(tensor.shape));
  if (tablesInUse().read(tensor, firstRow, values)) return values;
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
