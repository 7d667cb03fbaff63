/** Rows of tables, where copies of whole tables would be too much. */
import * as tf from '@tensorflow/tfjs';
import { kernelSet } from '../registry.js';
import type { CpuBackend } from './cpu_backend.js';
import { OwnedTables } from './owned_tables.js';

function tables(): OwnedTables {
  return OwnedTables.of(tf.backend() as CpuBackend);
}

/** Zeros in memory of our own. */
export function newTable(shape: readonly number[]): tf.Tensor {
  const backend = tf.backend() as CpuBackend;
  return tf.engine().makeTensorFromTensorInfo(tables().make([...shape], kernelSet()), backend);
}

/** Fills an array with rows of a table in memory of our own; false for any other, of which a slice costs no more. */
export function readRows({ dataId, shape }: tf.Tensor, firstRow: number, into: Float32Array): boolean {
  const columns = shape.slice(1).reduce((product, size) => product * size, 1);
  return tables().copyInto(dataId, firstRow * columns, into);
}

/** Writes rows of a table in memory of our own; false for any other, and for one of which others hold a snapshot. */
export function writeRows({ dataId, shape }: tf.Tensor, firstRow: number, values: Float32Array): boolean {
  const owned = tables();
  if (!owned.isWritable(dataId)) return false;
  const columns = shape.slice(1).reduce((product, size) => product * size, 1);
  owned.write(dataId).set(values, firstRow * columns);
  return true;
}
