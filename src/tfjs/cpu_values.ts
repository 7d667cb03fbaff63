/**
 * Tensors of the `cpu` backend whose values lie elsewhere, and what readers of them get.
 *
 * The backend hands out the very array that a tensor holds: `dataSync` gives it to the user, stock kernels pass it on
 * to their results. Values that are stepped in place must never be seen that way, so readers of such a tensor get a
 * copy or a snapshot.
 */
import * as tf from '@tensorflow/tfjs';
import { noteValues } from '../base/live_tensor.js';

type MakeTensor = (values: ArrayLike<unknown> | null, shape: number[], ...rest: unknown[]) => tf.Tensor;

const MARK = Symbol.for('tfjs-embeddings.oddTensors');

/** Starts to track tensors whose values do not match their shape. Later calls, from other copies too, do nothing. */
export function trackMismatchedTensors(): void {
  const engine = Object.getPrototypeOf(tf.engine()) as { makeTensor: MakeTensor; [MARK]?: true };
  if (engine[MARK] === true) return;
  Object.defineProperty(engine, MARK, { value: true });
  const { makeTensor } = engine;
  engine.makeTensor = function (values, shape, ...rest) {
    const tensor = makeTensor.call(this, values, shape, ...rest);
    if (values !== null && values.length !== tensor.size) noteValues(tensor, values.length);
    return tensor;
  };
}

/** The part of MathBackendCPU (tfjs-backend-cpu 4) that is wrapped. */
export interface ReadableCpuBackend extends tf.KernelBackend {
  readonly data: { get(dataId: tf.DataId): object };
  bufferSync(t: tf.TensorInfo): tf.TensorBuffer<tf.Rank>;
}

/** Where the values of some tensors lie. */
export interface ValueSource {
  /** The values, in an array of the caller's own; undefined for tensors that are not kept here. */
  copyOf(dataId: tf.DataId): Float32Array | Int32Array | undefined;
  /** The values for those who only read; undefined for tensors that are not kept here. */
  snapshotOf(dataId: tf.DataId): Float32Array | Int32Array | undefined;
  /** Data of this id is gone. */
  forget(dataId: tf.DataId): void;
}

/** Makes a backend serve the tensors of a source from there. Call it once per backend. */
export function serveValues(backend: ReadableCpuBackend, source: ValueSource): void {
  const { bufferSync, disposeData, readSync } = backend;
  backend.disposeData = (dataId: tf.DataId, force?: boolean): boolean => {
    const gone = disposeData.call(backend, dataId, force);
    if (gone) source.forget(dataId);
    return gone;
  };
  // What a user reads is the user's own: writing into it must not reach a snapshot that kernels read.
  backend.readSync = (dataId: tf.DataId) => source.copyOf(dataId) ?? readSync.call(backend, dataId);
  // Stock kernels read through it, and only read: a snapshot saves them a copy of the table.
  backend.bufferSync = (t: tf.TensorInfo) => {
    const values = source.snapshotOf(t.dataId);
    return values === undefined
      ? bufferSync.call(backend, t)
      : tf.buffer(t.shape as [number], t.dtype as 'float32', values as Float32Array);
  };
}

/** Makes the record of a tensor ask for its values each time that a stock kernel reads it. */
export function askForValues(
  backend: ReadableCpuBackend,
  dataId: tf.DataId,
  values: () => Float32Array | Int32Array,
): void {
  Object.defineProperty(backend.data.get(dataId), 'values', { get: values, configurable: true, enumerable: true });
}
