/** On `wasm` a slice with steps calls its numbers float32 whatever they are, and integers become others. */
import * as tf from '@tensorflow/tfjs';

const MARK = Symbol.for('tfjs-embeddings.stridedSlice');

interface WasmBackend {
  readonly dataIdMap: { get(dataId: object): { dtype: tf.DataType } };
}

/** Gives slices on `wasm` the dtype of what they are taken of. May be called again: the backend may come later. */
export function mendWasmStridedSlice(): void {
  const stock = tf.getKernel('StridedSlice', 'wasm') as (tf.KernelConfig & { [MARK]?: true }) | undefined;
  if (stock === undefined || stock[MARK] === true) return;
  const kernelFunc: tf.KernelFunc = (params) => {
    const result = stock.kernelFunc(params) as tf.TensorInfo;
    const { dtype } = (params.inputs as { x: tf.TensorInfo }).x;
    if (result.dtype === dtype) return result;
    (params.backend as WasmBackend).dataIdMap.get(result.dataId).dtype = dtype;
    return { ...result, dtype };
  };
  tf.unregisterKernel('StridedSlice', 'wasm');
  tf.registerKernel({ ...stock, kernelFunc, [MARK]: true } as tf.KernelConfig);
}
