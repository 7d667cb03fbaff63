/**
 * Products of matrices on the `cpu` backend by native code: those of tfjs are loops in JavaScript over single numbers.
 * What native code does not take goes to the kernels of tfjs, which stay the reference.
 */
import type * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { productShape, sizesOf } from '../dense/product_sizes.js';
import { offers } from '../kernel_set.js';
import { newFloats } from '../memory.js';
import { kernelSet, tellProducts } from '../registry.js';
import { floatsOf, type CpuBackend } from './cpu_backend.js';

interface Call {
  readonly inputs: Readonly<Record<string, tf.TensorInfo | undefined>>;
  readonly backend: CpuBackend;
  readonly attrs: { readonly transposeA: boolean; readonly transposeB: boolean; readonly activation?: string };
}

/** The product, or null where native code does not take it. */
function product({ inputs, backend, attrs }: Call): tf.TensorInfo | null {
  const set = kernelSet();
  const { transposeA, transposeB, activation = 'linear' } = attrs;
  const { a, b, bias } = inputs as { a: tf.TensorInfo; b: tf.TensorInfo; bias?: tf.TensorInfo };
  if (!offers(set, 'matMul') || (activation !== 'linear' && activation !== 'relu')) return null;
  const sizes = sizesOf(a, b, attrs);
  if (sizes === null || sizes.batch === 0) return null;
  const isRow = bias === undefined || (bias.shape.length === 1 && bias.shape[0] === sizes.n);
  if (!isRow || (bias !== undefined && bias.dtype !== 'float32')) return null;
  const shape = productShape(a, b, sizes);
  const out = newFloats('a', 'a product', shape);
  set.matMul({
    a: floatsOf(backend, a.dataId, 'a'),
    b: floatsOf(backend, b.dataId, 'b'),
    bias: bias === undefined ? null : floatsOf(backend, bias.dataId, 'bias'),
    out,
    ...sizes,
    transposeA: transposeA === true,
    transposeB: transposeB === true,
    relu: activation === 'relu',
  });
  return backend.makeTensorInfo(shape, 'float32', out);
}

/** Puts native products in the place of those of tfjs. May be called again. */
export function registerDenseKernels(): void {
  tellProducts('cpu', () => (offers(kernelSet(), 'matMul') ? kernelSet().info() : null));
  for (const kernelName of ['BatchMatMul', '_FusedMatMul']) {
    replaceStockKernel(kernelName, 'cpu', 'denseKernels', (stock) => {
      return (params) => product(params as unknown as Call) ?? stock(params);
    });
  }
}
