/**
 * Products of transposed matrices on the `wasm` backend, which every gradient of a dense layer is: tfjs gives XNNPACK
 * the others alone, and takes these number by number.
 */
import type * as tf from '@tensorflow/tfjs';
import { isOwnRun } from '../../tfjs/engine/own_runs.js';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { productShape, sizesOf } from '../model_kernels.js';
import { tellProducts } from '../registry.js';
import { matMul } from './joint_calls.js';
import { addressOf, filled, hostOf, tensorKernelInfo } from './tensor_kernels.js';
import type { WasmBackend } from './tfjs_heap.js';

interface Call {
  readonly inputs: { readonly a: tf.TensorInfo; readonly b: tf.TensorInfo };
  readonly backend: WasmBackend;
  readonly attrs: { readonly transposeA?: boolean; readonly transposeB?: boolean };
}

/** The product, or null where tfjs does as well. */
function product({ inputs: { a, b }, backend, attrs }: Call): tf.TensorInfo | null {
  const [transposeA, transposeB] = [attrs.transposeA === true, attrs.transposeB === true];
  const sizes = sizesOf(a, b, { transposeA, transposeB });
  if (sizes === null || sizes.batch === 0 || (!transposeA && !transposeB && sizes.batch === 1)) return null;
  const { kernels } = hostOf(backend);
  const output = { argument: 'a', what: 'a product', shape: productShape(a, b, sizes), dtype: 'float32' } as const;
  return filled(backend, [output], (out) => {
    const places = { a: addressOf(backend, a), b: addressOf(backend, b), bias: 0, out: out! };
    matMul(kernels, { ...places, ...sizes, transposeA, transposeB, relu: false });
  })[0]!;
}

/** Puts these products in the place of those of tfjs, once the backend is there. May be called again. */
export function replaceProducts(): void {
  tellProducts('wasm', tensorKernelInfo);
  replaceStockKernel('BatchMatMul', 'wasm', 'denseKernels', (stock) => {
    return (params) => (isOwnRun() ? product(params as unknown as Call) : null) ?? stock(params);
  });
}
