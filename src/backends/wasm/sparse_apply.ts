/** One exact step on variables of the `wasm` backend. */
import * as tf from '@tensorflow/tfjs';
import { PACKED_APPLY, SPARSE_APPLY, type PackedApplyFunction, type SparseApplyFunction } from '../bag_tensors.js';
import { runOnEngine } from '../../tfjs/engine/engine_run.js';
import type { WasmBackend } from './tfjs_heap.js';

/**
 * Gives the variable memory that nobody else sees. Every tensor that shares memory on this backend shares the data id
 * too (tfjs copies typed arrays in and out, and all kernels but Reshape write new memory), so the reference count tells.
 */
export function own(backend: WasmBackend, variable: tf.Variable): void {
  // `get` brings the data here when another backend has it.
  const { memoryOffset } = backend.dataIdMap.get(variable.dataId);
  if (backend.refCount(variable.dataId) === 1) return;
  const info = backend.makeOutput(variable.shape, variable.dtype);
  const copy = tf.engine().makeTensorFromTensorInfo(info, backend);
  const target = backend.dataIdMap.get(info.dataId).memoryOffset;
  backend.wasm.HEAPU8.copyWithin(target, memoryOffset, memoryOffset + 4 * variable.size);
  variable.assign(copy);
  copy.dispose();
}

/** Copies what somebody else can see, then steps in place. */
export const sparseApply: SparseApplyFunction = (optimizer, ...step) => {
  stepInPlace(SPARSE_APPLY[optimizer], {}, ...step);
};

/** The same of packed rows. */
export const packedApply: PackedApplyFunction = (optimizer, table, form, ...step) => {
  stepInPlace(PACKED_APPLY, { optimizer, ...form }, table, ...step);
};

type Step = Parameters<SparseApplyFunction> extends [unknown, ...infer Rest] ? Rest : never;

function stepInPlace(kernelName: string, attrs: object, ...[table, slots, gradient, bags, options, hyper]: Step): void {
  const backend = tf.engine().backend as WasmBackend;
  const written = [table, ...slots];
  for (const variable of written) own(backend, variable);
  tf.tidy(() => {
    // Reading what is being written would mix old and new rows.
    const apart = <T extends tf.Tensor>(tensor: T): T =>
      written.some(({ dataId }) => dataId === tensor.dataId) ? tf.clone(tensor) : tensor;
    const { values, rowSplits } = bags;
    const [slot0, slot1] = slots;
    const weights = bags.weights && apart(bags.weights);
    const inputs = { table, gradient: apart(gradient), values, rowSplits, weights, slot0, slot1 };
    runOnEngine(kernelName, inputs, { ...attrs, ...options, hyper: Array.from(hyper) });
  });
}
