/** On `wasm` a cast to truth values takes the lowest byte of each number: 256 is false, and so is 0.5. */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { isOwnRun } from './own_runs.js';
import { replaceStockKernel } from './stock_kernel.js';

interface WasmBackend {
  makeOutput(shape: number[], dtype: tf.DataType): tf.TensorInfo;
  typedArrayFromHeap(info: tf.TensorInfo): Float32Array | Int32Array | Uint8Array;
}

const state = (): { isEverywhere: boolean } => perProcess('casts on wasm', () => ({ isEverywhere: false }));

/**
 * Has all numbers but 0 be true, where something of this package runs, and from then on everywhere if that is wanted. May
 * be called again: the backend may come later.
 */
export function mendWasmCasts(isEverywhere = false): void {
  if (isEverywhere) state().isEverywhere = true;
  replaceStockKernel('Cast', 'wasm', 'casts', (stock) => (params) => {
    const { x } = params.inputs as { x: tf.TensorInfo };
    const { dtype } = params.attrs as unknown as { dtype: tf.DataType };
    const isNumber = x.dtype === 'int32' || x.dtype === 'float32';
    if (dtype !== 'bool' || !isNumber || !(state().isEverywhere || isOwnRun())) return stock(params);
    const backend = params.backend as WasmBackend;
    const out = backend.makeOutput(x.shape, 'bool');
    const into = backend.typedArrayFromHeap(out);
    backend.typedArrayFromHeap(x).forEach((value, at) => (into[at] = Number(value !== 0)));
    return out;
  });
}
