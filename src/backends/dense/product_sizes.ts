/** The sizes of products of matrices, as the kernels of `cpu` and `wasm` take them. */
import * as tf from '@tensorflow/tfjs';
import type { MatrixProduct } from '../kernel_set.js';

export type ProductSizes = Pick<MatrixProduct, 'batch' | 'batchA' | 'batchB' | 'm' | 'n' | 'k'>;

/** The sizes of a product that our kernels take: float32, and one matrix or as many as there are on the other side. */
export function sizesOf(
  a: tf.TensorInfo,
  b: tf.TensorInfo,
  { transposeA, transposeB }: Pick<MatrixProduct, 'transposeA' | 'transposeB'>,
): ProductSizes | null {
  if (a.dtype !== 'float32' || b.dtype !== 'float32' || a.shape.length < 2 || b.shape.length < 2) return null;
  const [rowsA, columnsA] = a.shape.slice(-2) as [number, number];
  const [rowsB, columnsB] = b.shape.slice(-2) as [number, number];
  const [m, k] = transposeA ? [columnsA, rowsA] : [rowsA, columnsA];
  const [inner, n] = transposeB ? [columnsB, rowsB] : [rowsB, columnsB];
  const [ofA, ofB] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
  const [batchA, batchB] = [tf.util.sizeFromShape(ofA), tf.util.sizeFromShape(ofB)];
  if (k !== inner || !(batchA === 1 || batchB === 1 || tf.util.arraysEqual(ofA, ofB))) return null;
  return { batch: Math.max(batchA, batchB), batchA, batchB, m, n, k };
}

/** The shape of such a product. */
export function productShape(a: tf.TensorInfo, b: tf.TensorInfo, { m, n }: ProductSizes): number[] {
  return [...tf.broadcast_util.assertAndGetBroadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2)), m, n];
}
