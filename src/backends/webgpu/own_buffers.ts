/** Variables whose buffers are written in place: nobody else may hold them, and no read may leave old values behind. */
import * as tf from '@tensorflow/tfjs';
import { HostCopies } from '../../tfjs/webgpu/host_copies.js';
import type { GpuRecord, WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import { checkFits } from './parts.js';

/** Sends what tfjs has recorded to the GPU: what is written into buffers directly comes after it. */
export function flush(backend: WebgpuBackend): void {
  backend.ensureCommandEncoderReady();
  backend.endComputePassEncoder();
  backend.submitQueue();
}

/** Has a record keep no values of the host: a read that began before a step would leave those before it. */
function keepNoValues(record: GpuRecord): void {
  Object.defineProperty(record, 'values', { get: () => null, set: () => undefined, configurable: true });
}

/** Whether nobody but the variable holds its values. */
export function isOwn(backend: WebgpuBackend, { dataId }: tf.TensorInfo): boolean {
  const { refCount, external } = backend.tensorMap.get(dataId);
  return refCount === 1 && external !== true;
}

/** To be called before a tensor that nobody else holds is written. */
export function willWrite(backend: WebgpuBackend, tensor: tf.TensorInfo): void {
  checkFits(backend, 'table', tensor.shape);
  backend.uploadToGPU(tensor.dataId);
  HostCopies.of(backend).forget(tensor.dataId);
  keepNoValues(backend.tensorMap.get(tensor.dataId));
}

/** Gives a variable a buffer of its own: clones, reshapes and whatever else shares it keep the values of now. */
export function own(backend: WebgpuBackend, variable: tf.Variable): void {
  // Brings the values here where another backend has them.
  backend.tensorMap.get(variable.dataId);
  if (variable.size === 0) return;
  checkFits(backend, 'table', variable.shape);
  if (!isOwn(backend, variable)) {
    backend.uploadToGPU(variable.dataId);
    const copy = tf.tidy(() => tf.keep(backend.readToGPU(variable.dataId).tensorRef));
    variable.assign(copy);
    copy.dispose();
  }
  willWrite(backend, variable);
}
