/** What we use of MathBackendCPU (tfjs-backend-cpu 4). */
import type * as tf from '@tensorflow/tfjs';

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

/** The values of a float32 tensor; some stock kernels leave plain arrays in the record. */
export function floatsOf(backend: CpuBackend, dataId: tf.DataId): Float32Array {
  const { values } = backend.data.get(dataId);
  return values instanceof Float32Array ? values : Float32Array.from(values as ArrayLike<number>);
}

/** The values of an int32 tensor. */
export function intsOf(backend: CpuBackend, dataId: tf.DataId): Int32Array {
  const { values } = backend.data.get(dataId);
  return values instanceof Int32Array ? values : Int32Array.from(values as ArrayLike<number>);
}
