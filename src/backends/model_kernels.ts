/** Kernels for models that some implementations have besides: see `offers`. */
import * as tf from '@tensorflow/tfjs';
import type { KernelSet } from './kernel_set.js';
import type { ListKernels, RankingKernels } from './ranking.js';
import type { PartitionCsr } from './sparse_core.js';

type ProductSizes = Pick<MatrixProduct, 'batch' | 'batchA' | 'batchB' | 'm' | 'n' | 'k'>;

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

/** out [batch, m, n] = A B, and then a bias and relu; one matrix may serve a whole batch. */
export interface MatrixProduct {
  readonly a: Float32Array;
  readonly b: Float32Array;
  readonly bias: Float32Array | null; // [n]
  readonly out: Float32Array;
  readonly batch: number;
  readonly batchA: number; // 1 or batch
  readonly batchB: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly relu: boolean;
}

/** What an implementation may offer besides, for models: see `offers`. */
export interface ModelKernels extends RankingKernels, ListKernels {
  /** Ids as SparseCores take them. The reference has one of its own, which comes with the TPU embedding API. */
  readonly partitionCsr: PartitionCsr;
  /** Products of matrices, for dense layers. */
  matMul(product: MatrixProduct): void;
}

/** Whether an implementation has a kernel which not all have. */
export function offers<K extends keyof ModelKernels>(
  set: KernelSet,
  kernel: K,
): set is KernelSet & Pick<ModelKernels, K> {
  return kernel in set;
}
