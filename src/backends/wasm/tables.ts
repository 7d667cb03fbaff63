/** Tables that are filled and read a few rows at a time in the memory of tfjs's wasm backend. */
import * as tf from '@tensorflow/tfjs';
import { filled, type Output } from './tensor_kernels.js';
import type { WasmBackend } from './tfjs_heap.js';

function wasm(): WasmBackend {
  return tf.backend() as WasmBackend;
}

/** Zeros in memory of the backend. */
export function newTable(shape: readonly number[]): tf.Tensor {
  const backend = wasm();
  const bytes = shape.reduce((product, each) => product * each, Float32Array.BYTES_PER_ELEMENT);
  const request: Output = { argument: 'shape', what: 'values', shape: [...shape], dtype: 'float32' };
  const [info] = filled(backend, [request], (address) => void backend.wasm.HEAPU8.fill(0, address, address + bytes));
  return tf.engine().makeTensorFromTensorInfo(info!, backend);
}

/** A view of rows of a table, from the first that is asked for to the end; good until the memory grows. */
function rowsFrom({ dataId, shape, size }: tf.Tensor, firstRow: number): Float32Array {
  const backend = wasm();
  const { memoryOffset } = backend.dataIdMap.get(dataId);
  const columns = shape.slice(1).reduce((product, each) => product * each, 1);
  const { buffer } = backend.wasm.HEAPU8;
  return new Float32Array(buffer, memoryOffset, size).subarray(firstRow * columns);
}

/** Fills an array with rows. */
export function readRows(table: tf.Tensor, firstRow: number, into: Float32Array): boolean {
  into.set(rowsFrom(table, firstRow).subarray(0, into.length));
  return true;
}

/** Writes rows of a table that nobody else sees; false for any other. */
export function writeRows(table: tf.Tensor, firstRow: number, values: Float32Array): boolean {
  const backend = wasm();
  // Brings the data here where another backend has it.
  backend.dataIdMap.get(table.dataId);
  if (table.dtype !== 'float32' || backend.refCount(table.dataId) !== 1) return false;
  rowsFrom(table, firstRow).set(values);
  return true;
}
