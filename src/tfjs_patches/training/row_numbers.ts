/**
 * The numbers of rows that `fit` shuffles in place of the rows: its gather of them by row number gives the row numbers,
 * and is left out. tfjs-node looks at each of them in JavaScript first, and TensorFlow takes 20 ns for each.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../per_process.js';

const MARK = Symbol.for('tfjs-embeddings.rowNumbers');

/** What the numbers 0, 1, 2, ... of loops in progress lie in. */
const inUse = (): WeakSet<object> => perProcess('row numbers', () => new WeakSet<object>());

/** Wraps the gather of the backend; later calls do nothing. */
function wrapGather(): void {
  const backendName = tf.getBackend();
  const stock = tf.getKernel(tf.GatherV2, backendName) as (tf.KernelConfig & { [MARK]?: true }) | undefined;
  if (stock === undefined || stock[MARK] === true) return;
  const kernelFunc: tf.KernelFunc = (call) => {
    const { x, indices } = call.inputs as tf.NamedTensorInfoMap & { x: tf.TensorInfo; indices: tf.TensorInfo };
    if (!inUse().has(x.dataId) || indices.dtype !== 'int32') return stock.kernelFunc(call);
    (call.backend as tf.KernelBackend).incRef(indices.dataId);
    return { dataId: indices.dataId, shape: indices.shape, dtype: indices.dtype };
  };
  tf.unregisterKernel(tf.GatherV2, backendName);
  tf.registerKernel({ ...stock, kernelFunc, [MARK]: true } as tf.KernelConfig);
}

/** The row numbers 0 .. count - 1, for one loop of `fit` whose backend is the current one. */
export function rowNumbers(count: number): tf.Tensor1D {
  wrapGather();
  const values = new Int32Array(count);
  // Ten times as fast as Int32Array.from.
  for (let row = 0; row < count; row++) values[row] = row;
  const numbers = tf.tensor1d(values, 'int32');
  inUse().add(numbers.dataId);
  return numbers;
}
