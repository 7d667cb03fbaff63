/** Values of a tensor bundle as tensors. */
import * as tf from '@tensorflow/tfjs';
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
