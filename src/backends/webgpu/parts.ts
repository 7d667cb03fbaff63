/**
 * A table as shaders see it: whole, or in parts of rows where it is larger than one binding may be, which WebGPU guarantees
 * for 128 MiB. All parts lie in one buffer, as tfjs keeps a tensor in one.
 */
import type * as tf from '@tensorflow/tfjs';
import { described, RuntimeError, ValueError } from '../../base/errors.js';
import type { Buffer, WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';

const BYTES = 4;
/** Bindings begin at multiples of 256 bytes, which 64 rows of anything are. */
const ROWS_TOGETHER = 64;

/** Some rows of a table and of its slots. */
export interface Part {
  /** The rows of each tensor, in the order in which they were given. */
  readonly tensors: readonly tf.TensorInfo[];
  readonly firstRow: number;
  readonly rows: number;
}

let forced: number | null = null;

/** Has bindings hold so many bytes at most, as small devices do; null: what the device says. */
export function setBindingLimit(bytes: number | null): void {
  forced = bytes;
}

function bindingLimit({ device }: WebgpuBackend): number {
  return Math.min(forced ?? Infinity, device.limits.maxStorageBufferBindingSize);
}

function bytesOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, BYTES);
}

/** Throws where a tensor of this shape fits into no buffer of the device. */
export function checkFits({ device }: WebgpuBackend, argument: string, shape: readonly number[]): void {
  const { maxBufferSize } = device.limits;
  const bytes = bytesOf(shape);
  if (bytes <= maxBufferSize) return;
  const expected = `at most ${maxBufferSize} bytes, which is the largest buffer of this GPU (limits.maxBufferSize)`;
  const received = described(`values of shape [${shape.join(', ')}] (${bytes} bytes)`);
  throw new ValueError(argument, expected, received, 'tfjs keeps a tensor in one buffer.');
}

/** Rows of a tensor that lies on the GPU, as a tensor of their own over the same memory. */
function viewOf(backend: WebgpuBackend, tensor: tf.TensorInfo, firstRow: number, rows: number): tf.TensorInfo {
  const width = bytesOf(tensor.shape.slice(1));
  const { resource } = backend.tensorMap.get(tensor.dataId);
  const view = backend.makeTensorInfo([rows, ...tensor.shape.slice(1)], tensor.dtype);
  const record = backend.tensorMap.get(view.dataId);
  record.resource = { buffer: resource as Buffer, offset: firstRow * width, size: rows * width };
  // tfjs does not release what is not its own.
  record.external = true;
  return view;
}

/** Runs for each part of tensors with the same number of rows; the first shader of a part may see its tensors alone. */
export function forEachPart(
  backend: WebgpuBackend,
  tensors: readonly tf.TensorInfo[],
  run: (part: Part, index: number) => void,
): void {
  const [rows] = tensors[0]!.shape as [number];
  const widest = Math.max(...tensors.map(({ shape }) => bytesOf(shape.slice(1))));
  const limit = bindingLimit(backend);
  if (rows * widest <= limit) {
    run({ tensors, firstRow: 0, rows }, 0);
    return;
  }
  const most = Math.floor(limit / widest / ROWS_TOGETHER) * ROWS_TOGETHER;
  if (most === 0) {
    throw new RuntimeError(
      'outputDim',
      `rows of which 64 fit into ${limit} bytes of this GPU`,
      `${widest} bytes a row`,
    );
  }
  for (const { dataId } of tensors) backend.uploadToGPU(dataId);
  for (let firstRow = 0, index = 0; firstRow < rows; firstRow += most, index++) {
    const count = Math.min(most, rows - firstRow);
    const views = tensors.map((tensor) => viewOf(backend, tensor, firstRow, count));
    try {
      run({ tensors: views, firstRow, rows: count }, index);
    } finally {
      for (const { dataId } of views) backend.disposeData(dataId);
    }
  }
}
