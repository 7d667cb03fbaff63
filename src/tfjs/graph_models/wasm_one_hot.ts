/** On `wasm` one-hot vectors are written as int32 whatever their dtype is: float32 ones were numbers of no size. */
import type * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../engine/stock_kernel.js';

interface WasmBackend {
  makeOutput(shape: number[], dtype: tf.DataType): tf.TensorInfo;
  typedArrayFromHeap(info: tf.TensorInfo): Float32Array | Int32Array | Uint8Array;
}

interface Attributes {
  readonly depth: number;
  readonly dtype: tf.DataType;
  readonly onValue: number;
  readonly offValue: number;
}

/** Writes one-hot vectors of other dtypes as such. May be called again: the backend may come later. */
export function mendWasmOneHot(): void {
  replaceStockKernel('OneHot', 'wasm', 'oneHot', (stock) => (params) => {
    const { depth, dtype, onValue, offValue } = params.attrs as unknown as Attributes;
    if (dtype === 'int32') return stock(params);
    const backend = params.backend as WasmBackend;
    const { indices } = params.inputs as { indices: tf.TensorInfo };
    const out = backend.makeOutput([...indices.shape, depth], dtype);
    const hot = backend.typedArrayFromHeap(out).fill(offValue);
    backend.typedArrayFromHeap(indices).forEach((index, i) => {
      if (index >= 0 && index < depth) hot[i * depth + index] = onValue;
    });
    return out;
  });
}
