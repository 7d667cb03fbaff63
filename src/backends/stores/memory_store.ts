/** Rows in the memory of a backend: what all such memories do alike, said once. */
import * as tf from '@tensorflow/tfjs';
import type { Words } from '../../codecs/codec.js';
import type { RowStore, TableWriter } from '../contract.js';
import { widthOf } from './table_rows.js';

/** The memory of one backend. */
export interface RowMemory
  extends Pick<RowStore, 'place' | 'read' | 'view' | 'memory'>, Partial<Pick<RowStore, 'writeAt'>> {
  /** A tensor of zeros where tables lie, whose rows can be written. */
  zeros(shape: readonly number[]): tf.Tensor;
  /** Whether rows of a variable can be written where they lie: nothing else holds its values. */
  isWritable(table: tf.Variable): boolean;
  /** Writes whole rows, row-major. */
  write(table: tf.Tensor, firstRow: number, values: Words): void;
}

/** The store of tables in a memory: rows stay where kernels read and step them. */
export function memoryStore({ zeros, isWritable, write, ...rest }: RowMemory): RowStore {
  return {
    ...rest,
    writeAt: rest.writeAt ?? null,
    trains: () => true,
    prefetch: null,
    devices: null,
    begin(shape) {
      const table = zeros(shape);
      return {
        write: (firstRow, values) => write(table, firstRow, values),
        finish: () => table,
        cancel: () => table.dispose(),
      };
    },
    rewrite: (table) => (isWritable(table) ? (firstRow, values) => write(table, firstRow, values) : null),
  };
}

/** Where stock ops alone know the memory: tensors are made whole, and read by slices. */
export const STOCK_STORE: RowStore = {
  trains: (codec) => codec.isPlain,
  prefetch: null,
  devices: null,
  begin: collectedTable,
  rewrite: () => null,
  writeAt: null,
  place: () => undefined,
  read: () => false,
  view: () => null,
};

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
