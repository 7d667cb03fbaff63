/** Tables that are filled and read a few rows at a time, where they lie. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, withTensor, type NodeBackend } from './node_backend.js';
import { translated } from './op_errors.js';
import { Ownership, watchedBackend } from './ownership.js';

function node(): NodeBackend {
  return asNodeBackend(tf.backend());
}

/** Zeros in a buffer that nobody else sees. */
export function newTable(shape: readonly number[]): tf.Tensor {
  const backend = node();
  const ownership = Ownership.of(backend);
  return translated('EmbeddingNewTable', () =>
    withTensor(backend, Int32Array.from(shape), [shape.length], (sizes) => {
      const table = backend.executeSingleOutput('EmbeddingNewTable', [], [sizes]);
      ownership.adopt(table);
      return table;
    }),
  );
}

/** Writes rows of a table whose buffer nobody else sees; false for any other. */
export function writeRows(table: tf.Tensor, firstRow: number, values: Float32Array): boolean {
  const backend = node();
  if (!Ownership.of(backend).isWritable(table)) return false;
  if (values.length === 0) return true;
  translated('EmbeddingWriteRows', () =>
    withTensor(backend, values, [values.length], (numbers) =>
      withTensor(backend, Int32Array.of(firstRow), [], (row) =>
        backend.executeMultipleOutputs('EmbeddingWriteRows', [], [table, numbers, row], 0),
      ),
    ),
  );
  return true;
}

/** Fills an array with rows. A slice would share the table's buffer, which a later step then had to copy. */
export function readRows(table: tf.Tensor, firstRow: number, into: Float32Array): boolean {
  const backend = watchedBackend(); // knows that the op shares nothing
  const { values } = backend.tensorMap.get(table.dataId);
  // Reading would hand the whole array to TensorFlow.
  if (values !== null) return false;
  const width = table.shape.slice(1).reduce((product, size) => product * size, 1);
  const rows = Int32Array.from({ length: into.length / width }, (_, i) => firstRow + i);
  const attributes = [
    { name: 'N', type: backend.binding.TF_ATTR_INT, value: 1 },
    { name: 'T', type: backend.binding.TF_ATTR_TYPE, value: backend.binding.TF_FLOAT },
  ];
  const taken = translated('EmbeddingTakeRows', () =>
    withTensor(backend, rows, [rows.length], (ids) =>
      backend.executeSingleOutput('EmbeddingTakeRows', attributes, [ids, table]),
    ),
  );
  try {
    into.set(taken.dataSync<'float32'>());
    return true;
  } finally {
    taken.dispose();
  }
}
