/** Values of a tensor bundle as tensors. */
import * as tf from '@tensorflow/tfjs';
import type { WriteRows } from '../../../backends/contract.js';
import { currentBackend } from '../../../backends/registry.js';
import type { BundleReader, StoredTensor } from './bundle_reader.js';

const ARRAYS = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

/** The values of a tensor, which are read straight into its memory. */
export async function readTensor(bundle: BundleReader, { key, dtype, shape, bytes }: StoredTensor): Promise<tf.Tensor> {
  const buffer = new ArrayBuffer(bytes);
  const target = new Uint8Array(buffer);
  let at = 0;
  for await (const piece of bundle.pieces(key)) {
    target.set(piece, at);
    at += piece.length;
  }
  return tf.tensor(new ARRAYS[dtype](buffer), [...shape], dtype);
}

/** Hands the float32 values of a tensor to `write`, some whole rows at a time. */
export async function readRows(bundle: BundleReader, { key, shape }: StoredTensor, write: WriteRows): Promise<void> {
  const columns = shape.slice(1).reduce((product, size) => product * size, 1);
  let row = 0;
  // Used again for each piece, after the part of a row that the piece before ended with.
  let values = new Float32Array(0);
  let rest = 0;
  for await (const piece of bundle.pieces(key)) {
    const length = rest + piece.length / Float32Array.BYTES_PER_ELEMENT;
    if (values.length < length) {
      const larger = new Float32Array(Math.max(length, columns));
      larger.set(values.subarray(0, rest));
      values = larger;
    }
    new Uint8Array(values.buffer).set(piece, rest * Float32Array.BYTES_PER_ELEMENT);
    const rows = Math.floor(length / columns);
    write(row, values.subarray(0, rows * columns));
    values.copyWithin(0, rows * columns, length);
    rest = length - rows * columns;
    row += rows;
  }
}

/** State of this size and more belongs to tables; what is smaller may belong to dense layers. */
const TABLE_BYTES = 2 ** 20;

/** State of an optimizer: what is as large as a table comes to lie where tables do, and is then stepped there. */
export async function readState(bundle: BundleReader, stored: StoredTensor): Promise<tf.Tensor> {
  const { dtype, shape, bytes } = stored;
  if (dtype !== 'float32' || bytes < TABLE_BYTES) return readTensor(bundle, stored);
  const writer = currentBackend().tables.begin(shape);
  try {
    await readRows(bundle, stored, writer.write);
    return writer.finish();
  } catch (error) {
    writer.cancel();
    throw error;
  }
}
