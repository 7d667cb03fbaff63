/**
 * Kernels of tfjs for `webgpu` that our ops and its own layers run into (tfjs 4.22). A cast from whole numbers to float32
 * keeps the buffer of whole numbers, which transposes take for floats, and with them sums along all axes but the last; a
 * sum of eight tensors binds more buffers than a shader may have; the shader of reversed running sums and products, which
 * gradients of these take, holds the length of the axis, and is used for other lengths too.
 */
import * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { WEBGPU, type WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import { runProgram } from './programs.js';

/** What a shader may be run on in one go: 65,535 groups of 64. */
const MOST_THREADS = 65_535 * 64;
/** A shader may have eight buffers, one of which is its result. */
const MOST_OPERANDS = 7;

function sizeOf({ shape }: tf.TensorInfo): number {
  return shape.reduce((size, each) => size * each, 1);
}

/** A tensor of floats of its own with the values of whole numbers or truths. */
function asFloats(backend: WebgpuBackend, x: tf.TensorInfo): tf.TensorInfo {
  const { values } = backend.tensorMap.get(x.dataId);
  if (values !== null && values !== undefined)
    return backend.makeTensorInfo(x.shape, 'float32', Float32Array.from(values));
  const output = backend.makeTensorInfo(x.shape, 'float32');
  const size = sizeOf(x);
  const threads = Math.min(size, MOST_THREADS);
  const code = `fn run(index : i32) {
    if (index >= uniforms.threads) { return; }
    for (var i = index; i < uniforms.count; i += uniforms.threads) { result[i] = f32(x[i]); }
  }`;
  runProgram(backend, { name: 'asFloats', inputs: { x }, ints: { count: size, threads }, threads, code }, output);
  return output;
}

/** Sums in groups that a shader can bind. */
function sumInGroups(stock: tf.KernelFunc, params: Parameters<tf.KernelFunc>[0]): tf.TensorInfo {
  const backend = params.backend as WebgpuBackend;
  let operands = params.inputs as unknown as tf.TensorInfo[];
  const made: tf.TensorInfo[] = [];
  const sum = (inputs: tf.TensorInfo[]): tf.TensorInfo =>
    stock({ ...params, inputs: inputs as never }) as tf.TensorInfo;
  while (operands.length > MOST_OPERANDS) {
    const first = sum(operands.slice(0, MOST_OPERANDS));
    made.push(first);
    operands = [first, ...operands.slice(MOST_OPERANDS)];
  }
  const result = sum(operands);
  for (const { dataId } of made) backend.disposeData(dataId);
  return result;
}

/** Running sums or products from the end: those from the start, of the reversed values. */
function fromTheEnd(stock: tf.KernelFunc, params: Parameters<tf.KernelFunc>[0]): tf.TensorInfo {
  const backend = params.backend as WebgpuBackend;
  const { kernelFunc } = tf.getKernel('Reverse', WEBGPU);
  const dims = [params.attrs!['axis'] as number];
  const reversed = (x: tf.TensorInfo): tf.TensorInfo =>
    kernelFunc({ inputs: { x }, backend, attrs: { dims } }) as tf.TensorInfo;
  const x = reversed(params.inputs['x']!);
  const run = stock({ ...params, inputs: { x }, attrs: { ...params.attrs, reverse: false } }) as tf.TensorInfo;
  const result = reversed(run);
  for (const { dataId } of [x, run]) backend.disposeData(dataId);
  return result;
}

/** Puts these kernels in the place of the stock ones. May be called again. */
export function mendStockKernels(): void {
  replaceStockKernel('Cast', WEBGPU, 'floatCasts', (stock) => (params) => {
    const x = params.inputs['x']!;
    const { dtype } = params.attrs as unknown as { dtype: tf.DataType };
    const isWhole = x.dtype === 'int32' || x.dtype === 'bool';
    return isWhole && dtype === 'float32' ? asFloats(params.backend as WebgpuBackend, x) : stock(params);
  });
  replaceStockKernel('AddN', WEBGPU, 'groupedSums', (stock) => (params) => {
    return (params.inputs as unknown as tf.TensorInfo[]).length > MOST_OPERANDS
      ? sumInGroups(stock, params)
      : stock(params);
  });
  for (const name of ['Cumsum', 'Cumprod']) {
    replaceStockKernel(name, WEBGPU, 'fromTheEnd', (stock) => (params) => {
      return params.attrs!['reverse'] === true ? fromTheEnd(stock, params) : stock(params);
    });
  }
}
