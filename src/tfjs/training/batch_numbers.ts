/**
 * The number of a batch, which the loop of `fit` cuts from a list of all of them: as an op of TensorFlow it takes as
 * long as a small step. The list is still in JavaScript, and so it is cut there.
 */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { replaceStockKernel } from '../engine/stock_kernel.js';

/** What tfjs-node keeps of a tensor that TensorFlow has not got yet. */
interface WaitingTensors {
  readonly tensorMap: { get(dataId: object): { readonly values: unknown } };
  write(values: Float32Array, shape: number[], dtype: 'float32'): object;
}

const state = (): { isCut: boolean } => perProcess('cut batch numbers', () => ({ isCut: false }));

/** From here until `endCut` a loop may cut a number from its list. */
export function beginCut(): void {
  openCuts();
  state().isCut = true;
}

export function endCut(): void {
  state().isCut = false;
}

function openCuts(): void {
  replaceStockKernel('Slice', 'tensorflow', 'batchNumbers', (stock) => (args) => {
    const { inputs, attrs, backend } = args as unknown as {
      readonly inputs: { readonly x: tf.TensorInfo };
      readonly attrs: { readonly begin: unknown; readonly size: unknown };
      readonly backend: WaitingTensors;
    };
    const { shape, dtype, dataId } = inputs.x;
    const [begin, size] = [attrs.begin, attrs.size].map((each) => (Array.isArray(each) ? (each[0] as unknown) : null));
    const isOne = state().isCut && shape.length === 1 && dtype === 'float32' && size === 1;
    const values = isOne ? backend.tensorMap.get(dataId as object).values : null;
    if (!(values instanceof Float32Array) || typeof begin !== 'number' || begin < 0) return stock(args);
    return { dataId: backend.write(values.slice(begin, begin + 1), [1], 'float32'), shape: [1], dtype: 'float32' };
  });
}
