/** What we use of MathBackendCPU (tfjs-backend-cpu 4). */
import type * as tf from '@tensorflow/tfjs';
import { checkNotLost } from '../../ids/lost_arrays.js';

/** What the backend keeps per data id. */
export interface CpuRecord {
  values: unknown;
  readonly dtype: tf.DataType;
  refCount: number;
}

export interface CpuBackend extends tf.KernelBackend {
  readonly data: { has(dataId: tf.DataId): boolean; get(dataId: tf.DataId): CpuRecord };
  bufferSync(t: tf.TensorInfo): tf.TensorBuffer<tf.Rank>;
  makeTensorInfo(shape: number[], dtype: tf.DataType, values: tf.TypedArray): tf.TensorInfo;
}

/** The values of a float32 tensor, an argument of this name; some stock kernels leave plain arrays in the record. */
export function floatsOf(backend: CpuBackend, dataId: tf.DataId, argument: string): Float32Array {
  const { values } = backend.data.get(dataId);
  if (ArrayBuffer.isView(values)) checkNotLost(values, argument);
  return values instanceof Float32Array ? values : Float32Array.from(values as ArrayLike<number>);
}

/** The values of an int32 tensor, an argument of this name. */
export function intsOf(backend: CpuBackend, dataId: tf.DataId, argument: string): Int32Array {
  const { values } = backend.data.get(dataId);
  if (ArrayBuffer.isView(values)) checkNotLost(values, argument);
  return values instanceof Int32Array ? values : Int32Array.from(values as ArrayLike<number>);
}
