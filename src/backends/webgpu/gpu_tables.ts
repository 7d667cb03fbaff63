/** Where tables lie on `webgpu`: in buffers of the GPU, as tensors of tfjs. */
import * as tf from '@tensorflow/tfjs';
import { HostCopies } from '../../tfjs/webgpu/host_copies.js';
import { webgpuBackend, type Buffer, type WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import type { Words } from '../../codecs/codec.js';
import { memoryStore } from '../stores/memory_store.js';
import { widthOf } from '../stores/table_rows.js';
import { flush, isOwn, willWrite } from './own_buffers.js';
import { checkFits } from './parts.js';

function bufferOf(backend: WebgpuBackend, { dataId }: tf.TensorInfo): Buffer {
  return backend.tensorMap.get(dataId).resource as Buffer;
}

/** Writes rows of a tensor that has a buffer. */
function writeRows(tensor: tf.Tensor, firstRow: number, values: Words): void {
  if (values.length === 0) return;
  const backend = webgpuBackend();
  const bytes = widthOf(tensor.shape) * Float32Array.BYTES_PER_ELEMENT;
  backend.device.queue.writeBuffer(bufferOf(backend, tensor), firstRow * bytes, values);
}

/** Zeros: a buffer that tfjs uses again holds what it held. */
function clear(backend: WebgpuBackend, tensor: tf.TensorInfo): void {
  const encoder = backend.device.createCommandEncoder();
  encoder.clearBuffer(bufferOf(backend, tensor));
  backend.device.queue.submit([encoder.finish()]);
}

/** Some rows as a tensor of their own, copied without a shader: stock ops cannot take a table larger than a binding. */
export function copyOfRows(
  backend: WebgpuBackend,
  tensor: tf.TensorInfo,
  firstRow: number,
  rows: number,
): tf.TensorInfo {
  const bytes = widthOf(tensor.shape) * Float32Array.BYTES_PER_ELEMENT;
  const copy = backend.makeTensorInfo([rows, ...tensor.shape.slice(1)], tensor.dtype);
  for (const { dataId } of [tensor, copy]) backend.uploadToGPU(dataId);
  flush(backend);
  const encoder = backend.device.createCommandEncoder();
  encoder.copyBufferToBuffer(bufferOf(backend, tensor), firstRow * bytes, bufferOf(backend, copy), 0, rows * bytes);
  backend.device.queue.submit([encoder.finish()]);
  return copy;
}

export const gpuStore = memoryStore({
  memory: 'GPU memory',
  zeros(shape) {
    const backend = webgpuBackend();
    checkFits(backend, 'shape', shape);
    if (shape.includes(0)) return tf.zeros([...shape]);
    const info = backend.makeTensorInfo([...shape], 'float32');
    const table = tf.engine().makeTensorFromTensorInfo(info, backend);
    backend.uploadToGPU(info.dataId);
    flush(backend);
    clear(backend, table);
    return table;
  },
  isWritable(table) {
    const backend = webgpuBackend();
    // Brings the values here where another backend has them.
    backend.tensorMap.get(table.dataId);
    if (table.dtype !== 'float32' || table.size === 0 || !isOwn(backend, table)) return false;
    willWrite(backend, table);
    flush(backend);
    return true;
  },
  write: writeRows,
  place: () => undefined,
  read(tensor, firstRow, into) {
    if (into.length === 0) return false;
    const backend = webgpuBackend();
    const width = widthOf(tensor.shape);
    const known = HostCopies.of(backend).valuesOf(tensor);
    if (known !== null) {
      into.set(known.subarray(firstRow * width, firstRow * width + into.length));
      return true;
    }
    const copy = copyOfRows(backend, tensor, firstRow, into.length / width);
    into.set(backend.readSync(copy.dataId) as Float32Array);
    backend.disposeData(copy.dataId);
    return true;
  },
  view: () => null,
});
