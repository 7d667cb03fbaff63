/** On `wasm` a slice with steps calls its numbers float32 whatever they are, and integers become others. */
import type * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../engine/stock_kernel.js';

interface WasmBackend {
  readonly dataIdMap: { get(dataId: object): { dtype: tf.DataType } };
}

/** Gives slices on `wasm` the dtype of what they are taken of. May be called again: the backend may come later. */
export function mendWasmStridedSlice(): void {
  replaceStockKernel('StridedSlice', 'wasm', 'stridedSlice', (stock) => (params) => {
    const result = stock(params) as tf.TensorInfo;
    const { dtype } = (params.inputs as { x: tf.TensorInfo }).x;
    if (result.dtype === dtype) return result;
    (params.backend as WasmBackend).dataIdMap.get(result.dataId).dtype = dtype;
    return { ...result, dtype };
  });
}
